"""From a context and a budget to an allocation, one or many at once.

The allocator ties hierarchy, metric and traversal together; here are also what it returns, what modifies a single call
(pinned nodes, a previous answer), curves over all budgets, many rows at once, and what is counted over a sequence.
Several allocators under one budget are `hra.pooling`.
"""
