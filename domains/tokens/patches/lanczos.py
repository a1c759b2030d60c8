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

    def matrix(self, source: int) -> np.ndarray:
        """The matrix itself, float64 [m, source]."""
        full = np.zeros((len(self.first), source))
        rows, taps = np.indices(self.weights.shape)
        full[rows, self.first[:, None] + taps] = self.weights
        return full

    @classmethod
    def of(cls, matrix: np.ndarray) -> Band:
        """The band of a matrix [m, n]."""
        some = matrix != 0
        first = some.argmax(axis=1)
        taps = int((matrix.shape[1] - some[:, ::-1].argmax(axis=1) - first).max())
        first = np.minimum(first, matrix.shape[1] - taps)
        weights = np.take_along_axis(matrix, first[:, None] + np.arange(taps), axis=1)
        return cls(frozen(first), frozen(weights.astype(np.float32)))


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
    down, up = lanczos(large, small).matrix(large), lanczos(small, large).matrix(small)
    return Band.of(down @ up)


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
