"""Pyramids by halving, and the extrema of rectangles that are looked up in them.

The layout of all levels in one buffer, the reductions, and one module per backend, OpenGL and other packages' included:
these modules are what `hra.kernels.backends` means by a backend, and `selftest` is what ``hra doctor`` runs.
"""
