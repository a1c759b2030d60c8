"""REDUCE and EXPAND of Burt and Adelson, the steps of Gaussian and Laplacian pyramids, per backend.

The same four functions in every backend, which `gaussian_pyramid` and `laplacian_pyramid` call.
"""
