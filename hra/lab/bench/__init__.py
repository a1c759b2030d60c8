"""Benchmarks of the solver and of the kernels against what others run; ``hra bench`` prints them."""
