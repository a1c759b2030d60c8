"""Numba loops that reduce a block of rows of a batch of images.

A source is [K, rows, W * C] and begins with row ``origin`` of its images, which are ``height`` rows high; a target is
[K, rows, w * C] and begins with row ``first``. Loops for 1, 3 and 4 channels are compiled apart: LLVM turns them into
vector code only if it knows the stride.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hra.kernels.pyramids.levels.numba_kernels import better


@njit(cache=True, inline="always")
def _extremum_pairs(upper, lower, target, pairs, channels, smallest):
    for x in range(pairs):
        for c in range(channels):
            i = 2 * x * channels + c
            left = better(upper[i], lower[i], smallest)
            right = better(upper[i + channels], lower[i + channels], smallest)
            target[x * channels + c] = better(left, right, smallest)


@njit(cache=True)
def _extremum_row(upper, lower, target, channels, smallest):
    pairs = upper.size // channels // 2
    if channels == 1:
        _extremum_pairs(upper, lower, target, pairs, 1, smallest)
    elif channels == 3:
        _extremum_pairs(upper, lower, target, pairs, 3, smallest)
    elif channels == 4:
        _extremum_pairs(upper, lower, target, pairs, 4, smallest)
    else:
        _extremum_pairs(upper, lower, target, pairs, channels, smallest)
    for i in range(pairs * channels, target.size):  # the last column of an odd width has no partner
        target[i] = better(upper[i + pairs * channels], lower[i + pairs * channels], smallest)


@njit(cache=True, nogil=True)
def extremum_rows(source, origin, target, first, height, channels, smallest):
    """Write the maxima (minima if ``smallest``) of 2 x 2 pixels."""
    for image in range(target.shape[0]):
        for y in range(target.shape[1]):
            top = 2 * (first + y)
            upper, lower = source[image, top - origin], source[image, min(top + 1, height - 1) - origin]
            _extremum_row(upper, lower, target[image, y], channels, smallest)


@njit(cache=True)
def _shares(i, count):
    """Integer weights of the pixels 2i - 1, 2i and 2i + 1 in output pixel i (derived in the reference)."""
    if count % 2 == 0:
        return 0, 1, 1
    length = (count + 1) // 2
    return i, length, length - 1 - i


@njit(cache=True)
def divisor_of(count):
    """The sum of the shares of an output pixel."""
    return count if count % 2 == 1 else 2


@njit(cache=True)
def sum_rows(source, origin, row, top, height, unit):
    """Set ``row`` to the weighted sum of the source rows under the target row ``top // 2``."""
    weight = row.dtype.type
    before, middle, after = _shares(top // 2, height)
    here = top - origin
    weight_middle, weight_after = weight(middle) * unit, weight(after) * unit
    # A row outside the image is not read, nor one of weight 0: 0 * inf would be NaN.
    if after > 0:
        for i in range(row.size):
            row[i] = source[here, i] * weight_middle + source[here + 1, i] * weight_after
    else:
        for i in range(row.size):
            row[i] = source[here, i] * weight_middle
    if before > 0:
        weight_before = weight(before) * unit
        for i in range(row.size):
            row[i] += source[here - 1, i] * weight_before


@njit(cache=True)
def _sum_odd_columns(row, target, channels, unit):
    weight = target.dtype.type
    count = row.size // channels
    for x in range((count + 1) // 2):
        before, middle, after = _shares(x, count)
        for c in range(channels):
            i = 2 * x * channels + c
            total = row[i] * (weight(middle) * unit)
            if before > 0:
                total += row[i - channels] * (weight(before) * unit)
            if after > 0:
                total += row[i + channels] * (weight(after) * unit)
            target[x * channels + c] = total


@njit(cache=True, inline="always")
def _sum_pairs(row, target, channels, unit):
    for x in range(target.size // channels):
        for c in range(channels):
            i = 2 * x * channels + c
            target[x * channels + c] = row[i] * unit + row[i + channels] * unit


@njit(cache=True)
def sum_columns(row, target, channels, unit):
    """Write the weighted sums of the columns of ``row`` under each pixel of ``target``."""
    if row.size // channels % 2 == 1:
        _sum_odd_columns(row, target, channels, unit)
    elif channels == 1:
        _sum_pairs(row, target, 1, unit)
    elif channels == 3:
        _sum_pairs(row, target, 3, unit)
    elif channels == 4:
        _sum_pairs(row, target, 4, unit)
    else:
        _sum_pairs(row, target, channels, unit)


@njit(cache=True, nogil=True)
def mean_rows(source, origin, target, first, height, channels):
    """Write the means of the pixels under each pixel, float32."""
    unit_y = np.float32(1.0 / divisor_of(height))
    unit_x = np.float32(1.0 / divisor_of(source.shape[2] // channels))
    row = np.empty(source.shape[2], np.float32)
    for image in range(target.shape[0]):
        for y in range(target.shape[1]):
            sum_rows(source[image], origin, row, 2 * (first + y), height, unit_y)
            sum_columns(row, target[image, y], channels, unit_x)
