"""The exact search: dominance lists on forests, branching on graphs.

Parts of `Exact` and of its batches: refinements fixed by penalties, states of partial sets that no other dominates, and
branching that deepens until the optimum is proven or the limit is reached.
"""
