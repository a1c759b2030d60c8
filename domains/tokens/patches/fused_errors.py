"""Squared errors of all pyramid levels in one pass over the image.

What `interpolation` does step by step, an image at a time, is done here a row at a time for all levels, so that rows
stay in the cache, with channels apart, so that the loops below run on several pixels at once: each has one output array
and few inputs, which is what LLVM vectorises. Pixels are finite, so that it may use the processor's own minimum.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hra.compiling import njit
from hra.model.scratch import Scratch

# As in `interpolation`: slope of the polynomial of degree four through five cell means.
_NEAR = np.float32(22 / 128)
_FAR = np.float32(-3 / 128)
_ZERO, _ONE = np.float32(0), np.float32(1)
_KEPT = 2**23  # numbers, 32 MB: seven levels of 1024 x 1024 pixels have 4.7 million
_memory = Scratch()


def errors_of_levels(levels: Sequence[np.ndarray], patch: int) -> np.ndarray:
    """Squared error of every patch while one level shows the whole image, clipped to [0, 1].

    Parameters
    ----------
    levels : float32 [ceil(H / 2**l), ceil(W / 2**l), C], at least two.
    patch : side in pixels, even.

    Returns
    -------
    float64 [L - 1, ceil(H/patch), ceil(W/patch)] for the levels from 1 on, summed over pixels and channels.
    """
    image = levels[0]
    planes = [np.ascontiguousarray(np.moveaxis(level, 2, 0)) for level in levels[1:]]
    shown = _room((len(planes), *planes[0].shape))
    shown[0] = planes[0]
    for index in range(1, len(planes)):
        cells = planes[index]
        for finer in range(index - 1, 0, -1):
            fine = np.empty_like(planes[finer])
            _refine(cells, fine)
            cells = fine
        _refine(cells, shown[index])
    errors = np.zeros((len(planes), -(-image.shape[0] // patch), -(-image.shape[1] // patch)))
    _compare(image, shown, patch, errors)
    return errors


def _room(shape: tuple[int, ...]) -> np.ndarray:
    """Memory of this shape; images of usual sizes find it touched already, which takes as long as filling it."""
    return _memory.array("shown", shape, np.float32) if np.prod(shape) <= _KEPT else np.empty(shape, np.float32)


@njit(cache=True, nogil=True)
def _slope_between_rows(up, down, far_up, far_down, slope):
    for x in range(slope.size):
        slope[x] = _NEAR * (down[x] - up[x]) + _FAR * (far_down[x] - far_up[x])


@njit(cache=True, nogil=True)
def _below(cells, slope, row):
    for x in range(cells.size):
        row[x] = cells[x] + slope[x]


@njit(cache=True, nogil=True)
def _above(cells, slope, row):
    for x in range(cells.size):
        row[x] = cells[x] - slope[x]


@njit(cache=True, nogil=True)
def _rows_of(cells, i, slope, upper, lower):
    """The two rows of finer cells in row ``i`` of ``cells`` [h, w], with two repeated cells at either end."""
    last, width = cells.shape[0] - 1, cells.shape[1]
    _slope_between_rows(
        *(cells[max(i - 1, 0)], cells[min(i + 1, last)]),
        *(cells[max(i - 2, 0)], cells[min(i + 2, last)]),
        slope,
    )
    _above(cells[i], slope, upper[2 : width + 2])
    _below(cells[i], slope, lower[2 : width + 2])
    for row in (upper, lower):
        row[0] = row[1] = row[2]
        row[width + 2] = row[width + 3] = row[width + 1]


@njit(cache=True, nogil=True)
def _refine(cells, fine):
    """Cells [C, h, w] of means as the finer cells [C, 2 h or one less, 2 w or one less]."""
    channels, rows, columns = cells.shape
    slope = np.empty(columns, np.float32)
    upper, lower = np.empty(columns + 4, np.float32), np.empty(columns + 4, np.float32)
    for c in range(channels):
        for i in range(rows):
            _rows_of(cells[c], i, slope, upper, lower)
            _split(upper, fine[c, 2 * i])
            if 2 * i + 1 < fine.shape[1]:
                _split(lower, fine[c, 2 * i + 1])


@njit(cache=True, nogil=True)
def _split(cells, fine):
    """Every cell [n + 4] (two more at either end) as two, [2 n] or one less."""
    for x in range(fine.size // 2):
        slope = _NEAR * (cells[x + 3] - cells[x + 1]) + _FAR * (cells[x + 4] - cells[x])
        fine[2 * x] = cells[x + 2] - slope
        fine[2 * x + 1] = cells[x + 2] + slope
    for x in range(fine.size // 2, (fine.size + 1) // 2):
        slope = _NEAR * (cells[x + 3] - cells[x + 1]) + _FAR * (cells[x + 4] - cells[x])
        fine[2 * x] = cells[x + 2] - slope


@njit(cache=True, nogil=True)
def _compare(image, shown, patch, errors):
    height, width, channels = image.shape
    levels, _, rows, columns = shown.shape
    even, odd = np.empty((2, channels, columns), np.float32), np.empty((2, channels, width // 2), np.float32)
    slope = np.empty(columns, np.float32)
    upper, lower = np.empty(columns + 4, np.float32), np.empty(columns + 4, np.float32)
    total = np.zeros((levels, columns), np.float32)
    for i in range(rows):
        both = 2 * i + 1 < height
        _pairs(image[2 * i], even[0], odd[0])
        if both:
            _pairs(image[2 * i + 1], even[1], odd[1])
        for level in range(levels):
            for c in range(channels):
                _rows_of(shown[level, c], i, slope, upper, lower)
                _add_squares(upper, even[0, c], odd[0, c], total[level])
                if both:
                    _add_squares(lower, even[1, c], odd[1, c], total[level])
        if (2 * i + 2) % patch == 0 or i + 1 == rows:
            _add_up(total, patch // 2, errors[:, 2 * i // patch])
            total[:] = 0


@njit(cache=True, nogil=True)
def _pairs(pixels, even, odd):
    """The pixels [W, C] of a row as first and second of every pair, [C, ceil(W / 2)] and [C, floor(W / 2)]."""
    width, channels = pixels.shape
    for c in range(channels):
        for x in range(width // 2):
            even[c, x] = pixels[2 * x, c]
            odd[c, x] = pixels[2 * x + 1, c]
        if width % 2:
            even[c, width // 2] = pixels[width - 1, c]


@njit(cache=True, nogil=True, fastmath={"contract", "nnan", "nsz"})
def _add_squares(cells, even, odd, total):
    """Add what pairs of pixels lack of a row of cells; the last cell may have a first pixel only."""
    for x in range(odd.size):
        slope = _NEAR * (cells[x + 3] - cells[x + 1]) + _FAR * (cells[x + 4] - cells[x])
        first = even[x] - min(max(cells[x + 2] - slope, _ZERO), _ONE)
        second = odd[x] - min(max(cells[x + 2] + slope, _ZERO), _ONE)
        total[x] += first * first + second * second
    for x in range(odd.size, even.size):
        slope = _NEAR * (cells[x + 3] - cells[x + 1]) + _FAR * (cells[x + 4] - cells[x])
        first = even[x] - min(max(cells[x + 2] - slope, _ZERO), _ONE)
        total[x] += first * first


@njit(cache=True, nogil=True)
def _add_up(total, pairs, errors):
    """Add sums of ``pairs`` columns of ``total`` [L, w] to the patches of a row, errors [L, columns]."""
    for level in range(total.shape[0]):
        for x in range(total.shape[1]):
            errors[level, x // pairs] += total[level, x]
