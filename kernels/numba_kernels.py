"""Numba loops over one level. An image is [B, H, W * C]: rows are reduced first, whole and contiguous, then columns.

Loops with one channel are written apart because only they have a constant stride, which LLVM turns into vector code.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def _better(a, b, smallest):
    wins = a < b if smallest else a > b
    return a if (wins or a != a) else b  # a != a: NaN wins on either side


@njit(cache=True)
def _extremum_columns(row, target, channels, smallest):
    pairs = row.size // channels // 2
    if channels == 1:
        for x in range(pairs):
            target[x] = _better(row[2 * x], row[2 * x + 1], smallest)
    else:
        for c in range(channels):
            for x in range(pairs):
                left = 2 * x * channels + c
                target[x * channels + c] = _better(row[left], row[left + channels], smallest)
    target[pairs * channels :] = row[2 * pairs * channels :]


@njit(cache=True, nogil=True)
def extremum_level(source, target, channels, smallest):
    """Write the maxima (minima if ``smallest``) of 2 x 2 pixels of ``source`` to ``target``."""
    row = np.empty(source.shape[2], source.dtype)
    for image in range(target.shape[0]):
        for y in range(target.shape[1]):
            upper, lower = source[image, 2 * y], source[image, min(2 * y + 1, source.shape[1] - 1)]
            for i in range(row.size):
                row[i] = _better(upper[i], lower[i], smallest)
            _extremum_columns(row, target[image, y], channels, smallest)


@njit(cache=True)
def _shares(i, count):
    """Integer weights of the pixels 2i - 1, 2i and 2i + 1 in output pixel i (derived in the reference)."""
    if count % 2 == 0:
        return 0, 1, 1
    length = (count + 1) // 2
    return i, length, length - 1 - i


@njit(cache=True)
def _set_row(row, source, weight):
    for i in range(row.size):
        row[i] = source[i] * weight


@njit(cache=True)
def _set_row_to_sum(row, first, weight_first, second, weight_second):
    for i in range(row.size):
        row[i] = first[i] * weight_first + second[i] * weight_second


@njit(cache=True)
def _add_row(row, source, weight):
    for i in range(row.size):
        row[i] += source[i] * weight


@njit(cache=True)
def _sum_rows(image, y, unit, row):
    weight = row.dtype.type
    before, middle, after = _shares(y, image.shape[0])
    # A row outside the image is not read, nor one of weight 0: 0 * inf would be NaN.
    if after > 0:
        _set_row_to_sum(row, image[2 * y], weight(middle) * unit, image[2 * y + 1], weight(after) * unit)
    else:
        _set_row(row, image[2 * y], weight(middle) * unit)
    if before > 0:
        _add_row(row, image[2 * y - 1], weight(before) * unit)


@njit(cache=True)
def _sum_odd_columns(row, target, channels, unit):
    weight = row.dtype.type
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


@njit(cache=True)
def _sum_columns(row, target, channels, unit):
    count = row.size // channels
    if count % 2 == 1:
        _sum_odd_columns(row, target, channels, unit)
    elif channels == 1:
        for x in range(count // 2):
            target[x] = row[2 * x] * unit + row[2 * x + 1] * unit
    else:
        for c in range(channels):
            for x in range(count // 2):
                i = 2 * x * channels + c
                target[x * channels + c] = row[i] * unit + row[i + channels] * unit


@njit(cache=True)
def _divisor(count):
    return count if count % 2 == 1 else 2


@njit(cache=True, nogil=True)
def mean_level(source, target, channels):
    """Write the means of the pixels of ``source`` under each pixel of ``target``, float32."""
    unit_y = np.float32(1.0 / _divisor(source.shape[1]))
    unit_x = np.float32(1.0 / _divisor(source.shape[2] // channels))
    row = np.empty(source.shape[2], np.float32)
    for image in range(target.shape[0]):
        for y in range(target.shape[1]):
            _sum_rows(source[image], y, unit_y, row)
            _sum_columns(row, target[image, y], channels, unit_x)


@njit(cache=True)
def _round_to_even(totals, divisor, target):
    for i in range(totals.size):
        quotient = totals[i] // divisor
        twice_rest = 2 * (totals[i] - quotient * divisor)
        target[i] = quotient + (twice_rest + (quotient & 1) > divisor)


@njit(cache=True)
def _round_quarter_to_even(totals, target):
    for i in range(totals.size):
        target[i] = (totals[i] + 1 + ((totals[i] >> 2) & 1)) >> 2


@njit(cache=True, nogil=True)
def mean_level_bytes(source, target, channels):
    """Write the means as :func:`mean_level`, uint8, rounded to nearest and ties to even."""
    divisor = _divisor(source.shape[1]) * _divisor(source.shape[2] // channels)
    # 255 * height fits in 32 bits, the sum over both axes need not.
    row, totals = np.empty(source.shape[2], np.int32), np.empty(target.shape[2], np.int64)
    for image in range(target.shape[0]):
        for y in range(target.shape[1]):
            _sum_rows(source[image], y, np.int32(1), row)
            _sum_columns(row, totals, channels, np.int64(1))
            if divisor == 4:
                _round_quarter_to_even(totals, target[image, y])
            else:
                _round_to_even(totals, divisor, target[image, y])


@njit(cache=True, nogil=True)
def rect_extremum(data, offsets, sizes, rects, batch_index, smallest, result):
    """Overwrite ``result`` (the identity) for every rectangle that meets its image."""
    height, width = sizes[0]
    for k in range(len(rects)):
        x0, y0 = max(rects[k, 0], 0), max(rects[k, 1], 0)
        x1, y1 = min(rects[k, 2], width - 1), min(rects[k, 3], height - 1)
        if x0 > x1 or y0 > y1:
            continue
        level = 0
        while max((x1 >> level) - (x0 >> level), (y1 >> level) - (y0 >> level)) > 1:
            level += 1
        rows, columns = sizes[level]
        begin = offsets[level] + batch_index[k] * rows * columns
        for y in range(y0 >> level, (y1 >> level) + 1):
            for x in range(x0 >> level, (x1 >> level) + 1):
                result[k] = _better(data[begin + y * columns + x], result[k], smallest)
