"""Traversals: the strategies that choose refinements within a budget, one per file.

The list of files is the list of choices, beside `base`, which says what a traversal is. A new strategy is a frozen
dataclass in a file of its own; its numerics belong to `hra.solvers`, so that a file here states what is chosen, what is
promised and how the parts are put together.
"""
