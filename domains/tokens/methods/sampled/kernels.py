"""Sampling a pyramid at any place and scale, and painting samples back; compiled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hra.compiling import njit


def sample_patches(levels: Sequence[np.ndarray], centres: np.ndarray, scales: np.ndarray, patch: int) -> np.ndarray:
    """Patches of ``patch`` x ``patch`` samples around each centre, trilinear in the pyramid.

    A pixel (i, j) of level ``l`` is centred at ((j + 0.5) 2**l, (i + 0.5) 2**l); the edge is repeated outside.

    Parameters
    ----------
    levels : float32 [h, w, C], level 0 first; centres : float64 [K, 2], (x, y) in pixels of level 0.
    scales : float64 [K], pixels of level 0 between two samples, >= 1.

    Returns
    -------
    float32 [K, patch, patch, C].
    """
    values = np.zeros((len(centres), patch, patch, levels[0].shape[2]), np.float32)
    exact = np.minimum(np.log2(scales), len(levels) - 1)
    for level, pixels in enumerate(levels):
        weights = np.maximum(1 - np.abs(exact - level), 0)
        _add_level(pixels, 2.0**level, centres, scales, weights, values)
    return values


@njit(cache=True)
def _add_level(pixels, size, centres, scales, weights, values):
    """Add the bilinear samples of one level, whose pixels are ``size`` wide, times each token's weight."""
    for token in range(len(centres)):
        if weights[token] > 0:
            _add_patch(pixels, size, centres[token], scales[token], weights[token], values[token])


@njit(cache=True)
def _add_patch(pixels, size, centre, scale, weight, values):
    height, width, channels = pixels.shape
    patch = len(values)
    for i in range(patch):
        top, bottom, down = _between((centre[1] + (i + 0.5 - patch / 2) * scale) / size - 0.5, height)
        for j in range(patch):
            left, right, across = _between((centre[0] + (j + 0.5 - patch / 2) * scale) / size - 0.5, width)
            for c in range(channels):
                upper = (1 - across) * pixels[top, left, c] + across * pixels[top, right, c]
                under = (1 - across) * pixels[bottom, left, c] + across * pixels[bottom, right, c]
                values[i, j, c] += weight * ((1 - down) * upper + down * under)


@njit(cache=True)
def _between(position, count):
    """The two neighbours of a position among ``count`` cells, and how far it lies from the first to the second."""
    inside = min(max(position, 0.0), count - 1.0)
    first = int(inside)
    return first, min(first + 1, count - 1), inside - first


@njit(cache=True)
def paint(order, boxes, centres, scales, values, canvas):
    """Paint the patches ``values`` float32 [K, patch, patch, C] over the ``canvas`` [H, W, C], in ``order``.

    Each pixel of a token's box is looked up bilinearly among its samples (inverse warp).
    """
    patch = values.shape[1]
    for token in order:
        x0, y0, x1, y1 = boxes[token]
        for y in range(y0, y1):
            top, bottom, down = _between((y + 0.5 - centres[token, 1]) / scales[token] + patch / 2 - 0.5, patch)
            for x in range(x0, x1):
                left, right, across = _between((x + 0.5 - centres[token, 0]) / scales[token] + patch / 2 - 0.5, patch)
                for c in range(canvas.shape[2]):
                    upper = (1 - across) * values[token, top, left, c] + across * values[token, top, right, c]
                    under = (1 - across) * values[token, bottom, left, c] + across * values[token, bottom, right, c]
                    canvas[y, x, c] = (1 - down) * upper + down * under
