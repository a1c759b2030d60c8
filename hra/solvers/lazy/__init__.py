"""Best-first search over hierarchies that are too large to exist.

The tree that grows while it is searched, the visited part of it as an ordinary hierarchy, and the allocation that comes
out. What a user implements, `LazyHierarchy` and `LazyMetric`, is in `hra.model`.
"""
