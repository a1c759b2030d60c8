"""Array kernels that the domains share: image pyramids, rectangle look-ups in them, and Hi-Z occlusion culling.

A kernel knows arrays and nothing of hierarchies, metrics or domains, and imports of hra only its errors. Each package
below holds one module per backend (``reference`` is the plain one that the tests compare with) behind a public function
that checks; directly here are only arrays in and out, the dispatcher, and how rows are split among threads.

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

import lazy_loader

# The names stand in the stub beside this file; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
