"""What several tests of context share."""

from __future__ import annotations

import numpy as np

from hra.kernels.raster import Context, DrawList, VisibilityBuffer

TRIANGLE = ([[-1, -1, 0], [3, -1, 0], [-1, 3, 0]], [[0, 1, 2]])


def draw(context: Context, number: int) -> np.ndarray:
    with DrawList(context, *TRIANGLE, ids=[number]) as draws, VisibilityBuffer(context, (16, 9)) as buffer:
        buffer.draw(draws, np.eye(4))
        return buffer.read().ids
