"""One step of the mean pyramid whose cells stay aligned with the pixels, at any size."""

from __future__ import annotations

import numpy as np

from hra.kernels import build_pyramid


def halve(pixels: np.ndarray) -> np.ndarray:
    """Means of 2 x 2 pixels, [H, W, C] to [ceil(H/2), ceil(W/2), C]; an odd edge is repeated.

    The pyramid kernel keeps the mean of odd sizes by cells of fractional width, which no longer lie on patches.
    Repeating the edge at every step costs one row; once for all levels it could multiply a strip of 20,000 x 1 pixels.
    """
    height, width = pixels.shape[:2]
    if height % 2 or width % 2:
        pixels = np.pad(pixels, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
    return build_pyramid(pixels, reduce="mean", levels=2).levels[1]
