"""A pyramid by Warp, on its CPU, beside the plain one."""

import numpy as np

from hra.kernels.pyramids.laplacian import gaussian_pyramid

image = np.random.default_rng(0).random((61, 40, 3), np.float32)
made, plain = (gaussian_pyramid(image, backend=name) for name in ("warp", "reference"))
for one, other in zip(made.levels, plain.levels, strict=True):
    assert np.allclose(one, other, atol=1e-5)
