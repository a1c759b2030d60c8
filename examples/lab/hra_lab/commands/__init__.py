"""The laboratory's commands: ``hra bench``, ``hra eval``, ``hra train`` and ``hra tokens ask``.

One file for a command, registered as entry point ``hra.commands``: options and output here, what they run in its own
folder.
"""
