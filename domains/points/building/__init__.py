"""From a cloud to the tree over it, in memory or on disk.

What makes a tree belongs here; what a tree is, in `cloud`.
"""
