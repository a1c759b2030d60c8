"""Channels from first derivatives: gradients, edges, and the structure tensor."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.domains.tokens.pyramid.blocks import block_counts

_OUTER, _INNER, _MIDDLE = (np.float32(weight / 16) for weight in (1, 4, 6))  # a binomial of five
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
    sums = np.zeros((8, -(-luma.shape[0] // cell), -(-luma.shape[1] // cell)), np.float32)
    _sum_moments(np.ascontiguousarray(luma), cell, sums)
    means = sums / block_counts(*luma.shape, cell).astype(np.float32)
    gx, gy, edges, xx, yy, xy, mean, square = means
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


@njit(cache=True, nogil=True)
def _sum_moments(luma, cell, sums):
    """Sums over cells, [8, rows, columns]: gradient and its length; blurred xx, yy, xy, luma and its square.

    Row by row, and every step a loop over a row with one output, so that it runs on several pixels at once.
    """
    height, width = luma.shape
    ring, total = np.zeros((5, 8, width), np.float32), np.zeros((8, width), np.float32)
    column = np.empty(width + 4, np.float32)
    for y in range(-2, height + 2):
        row = min(max(y, 0), height - 1)
        if row == y or y == -2:  # a repeated edge row has the products of the edge
            _products(luma, row, ring[y % 5])
        else:
            ring[y % 5] = ring[(y - 1) % 5]
        if 0 <= y < height:
            for k in range(3):
                _add(ring[y % 5, k], total[k])
        if y >= 2:
            for k in range(3, 8):
                a, b, c, d, e = (y + 1) % 5, (y + 2) % 5, (y + 3) % 5, (y + 4) % 5, y % 5
                _blur_rows(ring[a, k], ring[b, k], ring[c, k], ring[d, k], ring[e, k], column[2 : width + 2])
                column[0] = column[1] = column[2]
                column[width + 2] = column[width + 3] = column[width + 1]
                _add_blurred(column, total[k])
            if (y - 1) % cell == 0 or y - 1 == height:
                _add_up(total[3:], cell, sums[3:, (y - 2) // cell])
        if 0 <= y < height and ((y + 1) % cell == 0 or y + 1 == height):
            _add_up(total[:3], cell, sums[:3, y // cell])


@njit(cache=True, nogil=True)
def _products(luma, y, into):
    """Derivatives of a row (central, one-sided at the border), their length, products, luma and its square, [8, w]."""
    height, width = luma.shape
    above, below = max(y - 1, 0), min(y + 1, height - 1)
    down = np.float32(1 / max(below - above, 1))
    for x in range(1, width - 1):
        into[0, x] = (luma[y, x + 1] - luma[y, x - 1]) * np.float32(0.5)
    for x in (0, width - 1):
        left, right = max(x - 1, 0), min(x + 1, width - 1)
        into[0, x] = (luma[y, right] - luma[y, left]) / np.float32(max(right - left, 1))
    for x in range(width):
        into[1, x] = (luma[below, x] - luma[above, x]) * down
    dx, dy = into[0], into[1]
    for x in range(width):
        into[2, x] = np.sqrt(dx[x] * dx[x] + dy[x] * dy[x])
    for x in range(width):
        into[3, x] = dx[x] * dx[x]
    for x in range(width):
        into[4, x] = dy[x] * dy[x]
    for x in range(width):
        into[5, x] = dx[x] * dy[x]
    for x in range(width):
        into[6, x] = luma[y, x]
    for x in range(width):
        into[7, x] = luma[y, x] * luma[y, x]


@njit(cache=True, nogil=True)
def _add(row, total):
    for x in range(row.size):
        total[x] += row[x]


@njit(cache=True, nogil=True)
def _blur_rows(a, b, c, d, e, into):
    for x in range(into.size):
        into[x] = _OUTER * (a[x] + e[x]) + _INNER * (b[x] + d[x]) + _MIDDLE * c[x]


@njit(cache=True, nogil=True)
def _add_blurred(row, total):
    """Add a row [w + 4] (two more at either end), blurred along itself."""
    for x in range(total.size):
        total[x] += _OUTER * (row[x] + row[x + 4]) + _INNER * (row[x + 1] + row[x + 3]) + _MIDDLE * row[x + 2]


@njit(cache=True, nogil=True)
def _add_up(total, cell, sums):
    """Add rows [k, w] to the cells of a row of them, [k, columns], and start again."""
    for k in range(total.shape[0]):
        for x in range(total.shape[1]):
            sums[k, x // cell] += total[k, x]
            total[k, x] = 0
