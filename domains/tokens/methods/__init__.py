"""Named compositions of hierarchy, metric and traversal: one file for each.

A preset only composes; its algorithms belong to the folder of their subject. `registry` lists them under the names that
the command line takes.
"""
