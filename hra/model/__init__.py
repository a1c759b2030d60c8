"""The objects of an allocation: hierarchies, gains, metrics, budgets and the problem that they make.

Here belongs everything that is fixed before a choice: arrays as they come in, hierarchies and their order, what a
metric is and how node errors become gains, and the problem handed to a traversal. Nothing here chooses a refinement;
that is the traversals', and the arithmetic behind it the solvers'.
"""
