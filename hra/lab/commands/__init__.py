"""Commands that measure, compare and show: ``hra bench``, ``demo``, ``eval``, ``texture trace``, ``tokens compare``.

One file for a command, registered as entry point ``hra.commands``: options and output here, what they run in its own
folder of the lab.
"""
