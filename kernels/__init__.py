"""Array kernels that the domains share: image pyramids and rectangle look-ups in them.

>>> import numpy as np
>>> from hra.kernels import build_pyramid, rect_max
>>> depth = np.zeros((480, 640, 1), np.float32)
>>> depth[100, 200] = 1.0
>>> pyramid = build_pyramid(depth, reduce="max")
>>> rects = np.array([[192, 96, 207, 111], [0, 0, 63, 63]], np.int32)
>>> rect_max(pyramid, rects).tolist()
[1.0, 0.0]
"""

from __future__ import annotations

from hra.kernels.occlusion import rect_max, rect_min
from hra.kernels.pyramid import Pyramid, build_pyramid
from hra.kernels.selftest import available_backends

__all__ = ["Pyramid", "available_backends", "build_pyramid", "rect_max", "rect_min"]
