"""Channels from first derivatives: gradients, edges, and the structure tensor."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.domains.tokens.channels.cells import square_means

_BINOMIAL = np.array([1, 4, 6, 4, 1], np.float32) / 16
_NOISE = np.float32(1 / 255) ** 2  # a gradient of one step of 8-bit images has no orientation worth naming


def gradient_channels(luma: np.ndarray, cell: int) -> dict[str, np.ndarray]:
    """Gradients and structure tensor of every cell.

    The tensor, the products of the gradient's components, is blurred by a 5 x 5 binomial before it is averaged over the
    cell: at a single pixel every gradient is perfectly oriented. Angles are doubled, so that opposite gradients agree.

    Sources: J. Bigün and G. H. Granlund, "Optimal orientation detection of linear symmetry" (ICCV 1987), for coherence
    and doubled angle; C. Harris and M. Stephens, "A combined corner and edge detector" (Alvey 1988), and J. Shi and
    C. Tomasi, "Good features to track" (CVPR 1994), for the smaller eigenvalue as corner measure.

    Parameters
    ----------
    luma : float32 [H, W] in [0, 1].
    cell : side of a cell in pixels.

    Returns
    -------
    By name, float32 [ceil(H/cell), ceil(W/cell)]:
    ``gradient_x``, ``gradient_y`` : mean derivative, luma per pixel.
    ``edges`` : mean length of the gradient, luma per pixel.
    ``structure`` : coherence in [0, 1], 1 where all gradients lie on one line, 0 where there is none.
    ``orientation_cos``, ``orientation_sin`` : coherence times cosine and sine of twice the gradient's angle.
    ``structure_strength`` : root of the mean squared gradient, luma per pixel.
    ``corners`` : root of the tensor's smaller eigenvalue, luma per pixel.
    ``contrast`` : standard deviation of luma within the cell and the 5 x 5 pixels around each of its pixels.
    """
    gradients = _gradients(luma)
    gx, gy, edges = np.moveaxis(square_means(gradients, cell), -1, 0)
    xx, yy, xy, mean, square = np.moveaxis(square_means(_moments(luma, gradients), cell), -1, 0)
    trace = np.maximum(xx + yy, 0)
    cosine, sine = (xx - yy) / (trace + _NOISE), 2 * xy / (trace + _NOISE)
    smaller = (trace - np.hypot(xx - yy, 2 * xy)) / 2
    return {
        "gradient_x": gx,
        "gradient_y": gy,
        "edges": edges,
        "structure": np.hypot(cosine, sine),
        "orientation_cos": cosine,
        "orientation_sin": sine,
        "structure_strength": np.sqrt(trace),
        "corners": np.sqrt(np.maximum(smaller, 0)),
        "contrast": np.sqrt(np.maximum(square - mean**2, 0)),
    }


@njit(cache=True)
def _gradients(luma):
    """Central differences, one-sided at the border, and the gradient's length: [H, W, 3]."""
    height, width = luma.shape
    gradients = np.empty((height, width, 3), np.float32)
    for y in range(height):
        above, below = max(y - 1, 0), min(y + 1, height - 1)
        for x in range(width):
            left, right = max(x - 1, 0), min(x + 1, width - 1)
            dx = (luma[y, right] - luma[y, left]) / max(right - left, 1)
            dy = (luma[below, x] - luma[above, x]) / max(below - above, 1)
            gradients[y, x, 0], gradients[y, x, 1], gradients[y, x, 2] = dx, dy, np.sqrt(dx * dx + dy * dy)
    return gradients


@njit(cache=True)
def _moments(luma, gradients):
    """Blurred products dx dx, dy dy, dx dy of the gradients, and blurred luma and its square: [H, W, 5]."""
    height, width = luma.shape
    moments = np.zeros((height, width, 5), np.float32)
    column = np.empty((width, 5), np.float32)
    for y in range(height):
        column[:] = 0
        for k in range(5):
            row = min(max(y + k - 2, 0), height - 1)
            for x in range(width):
                dx, dy, value = gradients[row, x, 0], gradients[row, x, 1], luma[row, x]
                column[x, 0] += _BINOMIAL[k] * dx * dx
                column[x, 1] += _BINOMIAL[k] * dy * dy
                column[x, 2] += _BINOMIAL[k] * dx * dy
                column[x, 3] += _BINOMIAL[k] * value
                column[x, 4] += _BINOMIAL[k] * value * value
        for x in range(width):
            for k in range(5):
                other = min(max(x + k - 2, 0), width - 1)
                for c in range(5):
                    moments[y, x, c] += _BINOMIAL[k] * column[other, c]
    return moments
