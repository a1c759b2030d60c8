"""Resampling by the Lanczos filter, as one band of weights for each axis.

The filter and its limits are those of Pillow, which takes single channels, one number at a time; a row of all channels
is what the processor adds several numbers of at once. Bands of one axis can be multiplied first: an image that is
enlarged and made small again never gets large.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from hra.compiling import njit
from hra.model.arrays import frozen

_LOBES = 3.0


class Band(NamedTuple):
    """A matrix [m, n] of which each row has a few entries side by side.

    first : int64 [m], the column of the first entry of each row; weights : float32 [m, taps].
    """

    first: np.ndarray
    weights: np.ndarray


@lru_cache(maxsize=64)
def lanczos(source: int, target: int) -> Band:
    """What makes ``target`` samples of ``source`` ones: the filter is widened where there will be fewer of them."""
    scale = source / target
    wide = max(scale, 1.0)
    centre = (np.arange(target) + 0.5) * scale
    low = np.maximum((centre - _LOBES * wide + 0.5).astype(np.int64), 0)
    high = np.minimum((centre + _LOBES * wide + 0.5).astype(np.int64), source)
    taps = int((high - low).max())
    first = np.minimum(low, source - taps)
    at = first[:, None] + np.arange(taps)
    x = (at + 0.5 - centre[:, None]) / wide
    weights = np.where((at >= low[:, None]) & (at < high[:, None]), np.sinc(x) * np.sinc(x / _LOBES), 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    return Band(frozen(first), frozen(weights.astype(np.float32)))


@lru_cache(maxsize=64)
def there_and_back(small: int, large: int) -> Band:
    """What enlarging ``small`` samples to ``large`` ones and making them small again does to them."""
    down, up = lanczos(large, small), lanczos(small, large)
    first, last = up.first[down.first], up.first[down.first + down.weights.shape[1] - 1]
    taps = int((last - first).max()) + up.weights.shape[1]
    first = np.minimum(first, small - taps)
    weights = np.zeros((small, taps))
    _multiply(*down, *up, first, weights)
    return Band(frozen(first), frozen(weights.astype(np.float32)))


def along_axes(pixels: np.ndarray, vertical: Band, horizontal: Band) -> np.ndarray:
    """A band along each axis of ``pixels`` [h, w, C]: float32 [h', w', C]; first the one that leaves fewer samples."""
    shrinks = len(vertical.first) <= pixels.shape[0]
    pixels = _rows(pixels, vertical) if shrinks else pixels
    turned = np.ascontiguousarray(pixels.transpose(1, 0, 2))
    pixels = np.ascontiguousarray(_rows(turned, horizontal).transpose(1, 0, 2))
    return pixels if shrinks else _rows(pixels, vertical)


def _rows(pixels: np.ndarray, band: Band) -> np.ndarray:
    """A band along the first axis."""
    height, *rest = pixels.shape
    made = np.zeros((len(band.first), int(np.prod(rest))), np.float32)
    _add_rows(np.ascontiguousarray(pixels, np.float32).reshape(height, -1), band.first, band.weights, made)
    return made.reshape(-1, *rest)


@njit(cache=True, nogil=True)
def _add_rows(rows, first, weights, made):
    for i in range(len(first)):
        for tap in range(weights.shape[1]):
            if weights[i, tap] != 0:
                _add_scaled(rows[first[i] + tap], weights[i, tap], made[i])


@njit(cache=True, nogil=True, fastmath={"contract"})
def _add_scaled(row, weight, made):
    for x in range(made.size):
        made[x] += weight * row[x]


@njit(cache=True, nogil=True)
def _multiply(left_first, left, right_first, right, first, made):
    """The product of two bands, whose row i begins in column ``first[i]``."""
    for i in range(len(left_first)):
        for a in range(left.shape[1]):
            row = left_first[i] + a
            for b in range(right.shape[1]):
                made[i, right_first[row] + b - first[i]] += np.float64(left[i, a]) * right[row, b]
