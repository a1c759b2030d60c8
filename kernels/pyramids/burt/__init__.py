"""REDUCE and EXPAND of Burt and Adelson, the steps of Gaussian and Laplacian pyramids, per backend."""
