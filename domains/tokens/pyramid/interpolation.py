"""Average-interpolating refinement: from block means to the block means of the next finer level.

Source: D. L. Donoho, "Smooth wavelet decompositions with blocky coefficient kernels" (1993); A. Harten,
"Multiresolution representation of data" (SIAM J. Numer. Anal. 33, 1996). With five cells, the polynomial of degree four
that has the five given means is split into the means of its two halves.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.kernels import build_pyramid


def halve(pixels: np.ndarray) -> np.ndarray:
    """Means of 2 x 2 pixels, [H, W, C] to [ceil(H/2), ceil(W/2), C]; an odd edge is repeated.

    The pyramid kernel keeps the mean of odd sizes by cells of fractional width, which no longer lie on patches.
    Repeating the edge at every step costs one row; once for all levels it could multiply a strip of 20,000 x 1 pixels.
    """
    return build_pyramid(pixels, reduce="block_mean", levels=2).levels[-1]


# Slope of the degree-four polynomial with the given five cell means: half the difference of a cell's two halves.
_NEAR = np.float32(22 / 128)
_FAR = np.float32(-3 / 128)


def refine(coarse: np.ndarray, height: int, width: int) -> np.ndarray:
    """Interpolate a level of block means to the next finer level, keeping every 2 x 2 mean exact.

    Parameters
    ----------
    coarse : float32 [ceil(height / 2), ceil(width / 2), C], block means; cells outside repeat the edge.
    height, width : size of the finer level.

    Returns
    -------
    float32 [height, width, C]; values may overshoot the range of the input near edges.
    """
    tall = _split_rows(coarse, height)
    return _split_columns(tall, width)


@njit(cache=True)
def _split_rows(cells, height):
    rows, width, channels = cells.shape
    fine = np.empty((height, width, channels), np.float32)
    for i in range(rows):
        up, down = cells[max(i - 1, 0)], cells[min(i + 1, rows - 1)]
        far_up, far_down = cells[max(i - 2, 0)], cells[min(i + 2, rows - 1)]
        for x in range(width):
            for c in range(channels):
                slope = _NEAR * (down[x, c] - up[x, c]) + _FAR * (far_down[x, c] - far_up[x, c])
                fine[2 * i, x, c] = cells[i, x, c] - slope
                if 2 * i + 1 < height:
                    fine[2 * i + 1, x, c] = cells[i, x, c] + slope
    return fine


@njit(cache=True)
def _split_columns(cells, width):
    height, columns, channels = cells.shape
    fine = np.empty((height, width, channels), np.float32)
    for y in range(height):
        row = cells[y]
        for i in range(columns):
            left, right = row[max(i - 1, 0)], row[min(i + 1, columns - 1)]
            far_left, far_right = row[max(i - 2, 0)], row[min(i + 2, columns - 1)]
            for c in range(channels):
                slope = _NEAR * (right[c] - left[c]) + _FAR * (far_right[c] - far_left[c])
                fine[y, 2 * i, c] = row[i, c] - slope
                if 2 * i + 1 < width:
                    fine[y, 2 * i + 1, c] = row[i, c] + slope
    return fine
