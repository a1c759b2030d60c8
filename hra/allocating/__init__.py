"""From a context and a budget to an allocation, one or many at once.

The allocator ties hierarchy, metric and traversal together; here are also its results, the modifiers of a single call
(pinned nodes, a previous answer), curves over all budgets, many rows at once, and counts over a sequence. Several
allocators under one budget are `hra.pooling`.
"""
