"""How well each pyramid level alone shows the image, patch by patch."""

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
            _add_up_of_level(total, patch // 2, errors[:, 2 * i // patch])
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
def _add_up_of_level(total, pairs, errors):
    """Add sums of ``pairs`` columns of ``total`` [L, w] to the patches of a row, errors [L, columns]."""
    for level in range(total.shape[0]):
        for x in range(total.shape[1]):
            errors[level, x // pairs] += total[level, x]


def squared_errors(levels: Sequence[np.ndarray], patch: int) -> np.ndarray:
    """Squared error of every finest patch when one level shows the whole image, for each level.

    A level is brought to full resolution by the same average interpolation that reconstructs images from tokens, and
    clipped to [0, 1]. A coarser level counts at least the error of the finer one, patch by patch: where it fits better
    by chance, it gets no credit that the finer level would have to pay back.

    Parameters
    ----------
    levels : float32 [ceil(H / 2**l), ceil(W / 2**l), 3].
    patch : side in pixels, even.

    Returns
    -------
    float64 [L, ceil(H/patch), ceil(W/patch)], summed over real pixels and channels; zeros for level 0.
    """
    image = levels[0]
    errors = np.zeros((len(levels), -(-image.shape[0] // patch), -(-image.shape[1] // patch)))
    if len(levels) > 1:
        np.maximum.accumulate(errors_of_levels(levels, patch), axis=0, out=errors[1:])
    return errors


def error_sums(errors: np.ndarray, weight: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weighted errors over the region of every patch, while it shows the region and while its parent does.

    Parameters
    ----------
    errors : float64 [L, rows, columns], see `squared_errors`; zeros for level 0, which shows the image itself.
    weight : float64 [rows, columns] of the finest patches.
    offsets : int64 [L + 1], where the patches of each level begin, row by row.

    Returns
    -------
    Two float64 [N]; at the coarsest level both are the same.
    """
    own, inherited = np.zeros(offsets[-1]), np.zeros(offsets[-1])
    _add_up(errors, weight, offsets, own, inherited)
    return own, inherited


@njit(cache=True, nogil=True)
def _add_up(errors, weight, offsets, own, inherited):
    levels, rows, columns = errors.shape
    for y in range(rows):  # the finest level on its own: most of the work, and nothing to add up
        for x in range(columns):
            inherited[y * columns + x] = weight[y, x] * errors[min(1, levels - 1), y, x]
    for level in range(1, levels - 1):
        coarser, across = level + 1, (columns - 1 >> level) + 1
        for y in range(rows):
            start = offsets[level] + (y >> level) * across
            for node in range(across):
                part = 0.0
                for x in range(node << level, min(node + 1 << level, columns)):
                    part += weight[y, x] * errors[coarser, y, x]
                inherited[start + node] += part
    for level in range(1, levels):
        # What children inherit is what their parent leaves wrong.
        across, below = (columns - 1 >> level) + 1, (columns - 1 >> level - 1) + 1
        for child in range(offsets[level - 1], offsets[level]):
            y, x = divmod(child - offsets[level - 1], below)
            own[offsets[level] + (y >> 1) * across + (x >> 1)] += inherited[child]
    # Node by node: assigning slices makes Numba compile a second's worth of error messages.
    for root in range(offsets[levels - 1], offsets[levels]):
        inherited[root] = own[root]
