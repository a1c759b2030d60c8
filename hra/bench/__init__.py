"""Benchmarks of the solver against what others run; ``hra bench`` prints them."""
