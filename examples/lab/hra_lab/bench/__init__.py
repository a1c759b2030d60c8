"""Benchmarks of the solver and of the kernels against what others run; ``hra bench`` prints them.

The harness, the solver's suite and what all suites share are here, the others have a folder each. A row is an operation
timed beside its peers, and each answer is checked before it counts.
"""
