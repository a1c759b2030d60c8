"""What residuals of the Haar split are worth, straight from the means of two levels: no residual is held."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hra.compiling import njit


def residual_gains(levels: Sequence[np.ndarray], weight: np.ndarray, cell: int, patch: int) -> np.ndarray:
    """What each patch of each scale takes off the relevance-weighted mean squared error, float64 [N].

    The mean is over the extended image, in which the residuals are orthogonal: a squared one counts for all pixels that
    it covers.

    Parameters
    ----------
    levels : float32 [h, w, C], see `HaarFrame.levels`.
    weight : [rows, columns] of cells of ``cell`` pixels, which no coefficient crosses.
    patch : coefficients along a side.
    """
    share = weight / (3 * cell**2 * weight.sum())
    gains = []
    for number, level in enumerate(levels):
        height, width, channels = level.shape
        gain = np.zeros((-(-height // patch), -(-width // patch)))
        across = (4.0**number * share)[:, np.arange(width) * 2**number // cell].repeat(channels, axis=1)
        # The means of the coarsest scale are taken as they are.
        coarse = levels[number + 1] if number + 1 < len(levels) else np.zeros((0, 0, channels), np.float32)
        _add_weighted(level.reshape(height, -1), coarse, across, 2**number, cell, (patch, channels), gain)
        gains.append(gain.ravel())
    return np.concatenate(gains)


@njit(cache=True, nogil=True)
def _add_weighted(level, coarse, weight, step, cell, shape, gain):
    """Squared residuals times ``weight`` [cells down, numbers across], summed over patches of ``shape[0]`` rows."""
    patch, side = shape[0], shape[0] * shape[1]
    total, shown = np.zeros(level.shape[1]), np.zeros(level.shape[1], np.float32)
    for y in range(len(level)):
        if y % 2 == 0 and len(coarse) > 0:
            _repeat(coarse[y // 2], shown)
        _add_squares(level[y], shown, weight[y * step // cell], total)
        if (y + 1) % patch == 0 or y + 1 == len(level):
            for x in range(total.size):
                gain[y // patch, x // side] += total[x]
                total[x] = 0


@njit(cache=True, nogil=True)
def _repeat(pixels, row):
    """Every pixel [w, C] twice, [2 w C]."""
    channels = pixels.shape[1]
    for x in range(len(pixels)):
        for c in range(channels):
            row[2 * x * channels + c] = pixels[x, c]
            row[(2 * x + 1) * channels + c] = pixels[x, c]


@njit(cache=True, nogil=True)
def _add_squares(row, shown, weight, total):
    for x in range(total.size):
        total[x] += weight[x] * (row[x] - shown[x]) ** 2
