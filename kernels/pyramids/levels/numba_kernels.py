"""Numba loops over single pixels: the look-up of rectangles in all levels."""

from __future__ import annotations

from numba import njit


@njit(cache=True)
def better(a, b, smallest):
    """The smaller or the larger number; NaN if one of them is."""
    wins = a < b if smallest else a > b
    return a if wins | (a != a) else b  # a != a: NaN wins on either side; without branches


@njit(cache=True, nogil=True)
def rect_extremum(data, offsets, sizes, bits, rects, batch_index, smallest, result):
    """Overwrite ``result`` (the identity) for every rectangle that meets its image.

    ``bits`` holds the number of binary digits of every difference of pixels: a search for the level would be slow where
    rectangles of all sizes follow each other.
    """
    height, width = sizes[0]
    for k in range(len(rects)):
        x0, y0 = max(rects[k, 0], 0), max(rects[k, 1], 0)
        x1, y1 = min(rects[k, 2], width - 1), min(rects[k, 3], height - 1)
        if x0 > x1 or y0 > y1:
            continue
        level = max(bits[max(x1 - x0, y1 - y0)] - 1, 0)
        level += max((x1 >> level) - (x0 >> level), (y1 >> level) - (y0 >> level)) > 1
        rows, columns = sizes[level]
        begin = offsets[level] + batch_index[k] * rows * columns
        upper, lower = begin + (y0 >> level) * columns, begin + (y1 >> level) * columns
        above = better(data[upper + (x0 >> level)], data[upper + (x1 >> level)], smallest)
        below = better(data[lower + (x0 >> level)], data[lower + (x1 >> level)], smallest)
        result[k] = better(above, below, smallest)
