"""Named compositions of hierarchy, metric and traversal: one file for each.

A preset only composes; an algorithm that it needs belongs to the folder of its subject. `registry` lists them under the
names that the command line takes.
"""
