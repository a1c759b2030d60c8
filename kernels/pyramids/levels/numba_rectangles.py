"""Numba loops over rectangles: the extremum within each, and which of them hold a pixel that reaches a value.

A pixel that reaches makes all coarser pixels above it reach, so what the finest level says is the answer; coarser ones
only say "none" sooner, and a few pixels of it often say "yes" at once. One short loop follows the other, each over
those rectangles that the last one left open: a single loop, whose branches cannot be predicted, takes twice as long.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.kernels.pyramids.levels.numba_rows import better

# Rectangles at a time, so that what the loops hand on stays in the cache.
_BLOCK = 2048


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
        # The longer side shifted by this is 1, so that the rectangle meets two pixels or three; if three, then one
        # level up two.
        level += max((x1 >> level) - (x0 >> level), (y1 >> level) - (y0 >> level)) > 1
        rows, columns = sizes[level]
        begin = offsets[level] + batch_index[k] * rows * columns
        upper, lower = begin + (y0 >> level) * columns, begin + (y1 >> level) * columns
        above = better(data[upper + (x0 >> level)], data[upper + (x1 >> level)], smallest)
        below = better(data[lower + (x0 >> level)], data[lower + (x1 >> level)], smallest)
        result[k] = better(above, below, smallest)


@njit(cache=True)
def _reaches(value, against, smallest):
    """Whether a value is not below (above) what it is compared with."""
    return not (value > against if smallest else value < against)  # NaN reaches everything


@njit(cache=True, nogil=True)
def any_reaches(data, tables, rects, image, against, finer, smallest, found):
    """Whether a pixel within each rectangle reaches ``against``, at ``finer`` levels below where 2 x 2 pixels hold it.

    Rectangles lie within their ``image`` [K] or are empty, which gives False; ``tables`` are offsets, sizes and bits as
    for `rect_extremum`.
    """
    offsets, sizes, bits = tables
    columns, pixels = sizes[:, 1].copy(), sizes[:, 0] * sizes[:, 1]
    level, finest, index = np.empty(_BLOCK, np.int32), np.empty(_BLOCK, np.int32), np.empty(_BLOCK, np.int64)
    is_open, listed = np.empty(_BLOCK, np.bool_), np.empty(_BLOCK + 1, np.int32)
    for begin in range(0, len(rects), _BLOCK):
        windows, images = rects[begin : begin + _BLOCK], image[begin : begin + _BLOCK]
        limits, answers = against[begin : begin + _BLOCK], found[begin : begin + _BLOCK]
        places = offsets, columns, pixels, windows, images
        # Nothing is asked of empty rectangles, which get a level and a place like any other, so that the loops need no
        # branch.
        _choose_levels(windows, bits, finer, level, finest)
        _locate_centers(places, finest, index)
        _try_centers(data, windows, index, limits, smallest, answers)
        count = _list_open(windows, answers, listed)
        # At its own level the four corners are all of a rectangle: where none reaches, nothing finer does, and False
        # stands.
        _try_corners(data, places, level, limits, smallest, listed, count, is_open)
        count = _keep_open(listed, count, is_open)
        # At the finest level they are only a sample: one that reaches settles it, else the levels between are searched.
        _try_corners(data, places, finest, limits, smallest, listed, count, is_open)
        for i in range(count):
            k = listed[i]
            answers[k] = is_open[i] or _descend(data, places, k, level[k], finest[k], limits[k], smallest)


@njit(cache=True, nogil=True)
def _choose_levels(rects, bits, finer, level, finest):
    for k in range(len(rects)):
        x0, y0, x1, y1 = rects[k, 0], rects[k, 1], rects[k, 2], rects[k, 3]
        coarse = max(bits[max(x1 - x0, y1 - y0, 0)] - 1, 0)
        coarse += max((x1 >> coarse) - (x0 >> coarse), (y1 >> coarse) - (y0 >> coarse)) > 1
        level[k], finest[k] = coarse, max(coarse - finer, 0)


@njit(cache=True, nogil=True)
def _locate_centers(places, level, index):
    offsets, columns, pixels, rects, image = places
    for k in range(len(rects)):
        at = level[k]
        # The middle, (x0 + x1) / 2, and its pixel at the level in one shift. An empty rectangle, (0, 0, -1, -1), gives
        # -1.
        x, y = (rects[k, 0] + rects[k, 2]) >> (at + 1), (rects[k, 1] + rects[k, 3]) >> (at + 1)
        index[k] = offsets[at] + image[k] * pixels[at] + max(y, 0) * columns[at] + max(x, 0)


@njit(cache=True, nogil=True)
def _try_centers(data, rects, index, against, smallest, found):
    for k in range(len(rects)):
        found[k] = _reaches(data[index[k]], against[k], smallest) & (rects[k, 0] <= rects[k, 2])


@njit(cache=True, nogil=True)
def _list_open(rects, found, listed):
    """List rectangles that hold pixels, none of which is found; the last entry may be written without need."""
    count = 0
    for k in range(len(rects)):
        # Written always, counted only if open: a condition in its place could not be predicted.
        listed[count] = k
        count += (not found[k]) & (rects[k, 0] <= rects[k, 2])
    return count


@njit(cache=True, nogil=True)
def _keep_open(listed, count, is_open):
    kept = 0
    for i in range(count):
        listed[kept] = listed[i]
        kept += is_open[i]
    return kept


@njit(cache=True, nogil=True)
def _try_corners(data, places, level, against, smallest, listed, count, found):
    """Whether one of the four pixels in the corners of each listed rectangle reaches: all of it at its own level."""
    offsets, columns, pixels, rects, image = places
    for i in range(count):
        k = listed[i]
        at, limit = level[k], against[k]
        x0, y0, x1, y1 = rects[k, 0] >> at, rects[k, 1] >> at, rects[k, 2] >> at, rects[k, 3] >> at
        begin = offsets[at] + image[k] * pixels[at]
        upper, lower = begin + y0 * columns[at], begin + y1 * columns[at]
        above = _reaches(data[upper + x0], limit, smallest) | _reaches(data[upper + x1], limit, smallest)
        below = _reaches(data[lower + x0], limit, smallest) | _reaches(data[lower + x1], limit, smallest)
        found[i] = above | below


@njit(cache=True, nogil=True)
def _descend(data, places, k, level, finest, against, smallest):
    """Whether a pixel of rectangle ``k`` reaches at every level down to the finest one."""
    offsets, columns, pixels, rects, image = places
    # A coarse pixel that does not reach rules out all beneath it; one that does has to be looked into.
    while level > finest:
        level -= 1
        begin = offsets[level] + image[k] * pixels[level]
        x0, y0, x1, y1 = rects[k, 0] >> level, rects[k, 1] >> level, rects[k, 2] >> level, rects[k, 3] >> level
        if not _any_in(data, begin, columns[level], (x0, y0, x1, y1), against, smallest):
            return False
    return True


@njit(cache=True, nogil=True)
def _any_in(data, begin, columns, window, against, smallest):
    x0, y0, x1, y1 = window
    for y in range(y0, y1 + 1):
        for x in range(x0, x1 + 1):
            if _reaches(data[begin + y * columns + x], against, smallest):
                return True
    return False


@njit(cache=True, nogil=True)
def clip(rects, width, height, clipped):
    """Cut rectangles to the image; what is empty or outside becomes (0, 0, -1, -1)."""
    for k in range(len(rects)):
        x0, y0 = max(rects[k, 0], 0), max(rects[k, 1], 0)
        x1, y1 = min(rects[k, 2], width - 1), min(rects[k, 3], height - 1)
        if x0 > x1 or y0 > y1:
            x0, y0, x1, y1 = 0, 0, -1, -1
        clipped[k, 0], clipped[k, 1], clipped[k, 2], clipped[k, 3] = x0, y0, x1, y1


@njit(cache=True, nogil=True)
def bound(found, against, nothing, result):
    """``against`` where something was found, else ``nothing``."""
    for k in range(len(found)):
        result[k] = against[k] if found[k] else nothing
