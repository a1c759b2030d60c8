"""Levels of an image by OpenGL beside the plain ones."""

import numpy as np

from hra.kernels.pyramids.levels.pyramid import build_pyramid

image = np.random.default_rng(0).random((61, 40, 3), np.float32)
drawn, plain = (build_pyramid(image, backend=name) for name in ("gl", "reference"))
for one, other in zip(drawn.levels, plain.levels, strict=True):
    assert np.allclose(one, other, atol=1e-5)
