"""Numba loops over rows of bytes: rounded means, and sRGB to and from linear light. Blocks as in `numba_rows`."""

from __future__ import annotations

import numpy as np
from numba import njit

from hra.kernels.pyramids.levels.numba_rows import divisor_of, sum_columns, sum_rows


@njit(cache=True, inline="always")
def _mean_of_four(upper, lower, target, channels):
    # Two bits are divided off: add one half, less a bit where the quotient is even, so that ties go to even.
    for x in range(target.size // channels):
        for c in range(channels):
            i = 2 * x * channels + c
            left = np.uint16(upper[i]) + np.uint16(lower[i])
            total = np.uint16(left + np.uint16(upper[i + channels]) + np.uint16(lower[i + channels]))
            target[x * channels + c] = np.uint16(total + np.uint16(1) + ((total >> 2) & np.uint16(1))) >> 2


@njit(cache=True)
def _mean_of_four_row(upper, lower, target, channels):
    if channels == 1:
        _mean_of_four(upper, lower, target, 1)
    elif channels == 3:
        _mean_of_four(upper, lower, target, 3)
    elif channels == 4:
        _mean_of_four(upper, lower, target, 4)
    else:
        _mean_of_four(upper, lower, target, channels)


@njit(cache=True)
def _round_to_even(totals, divisor, target):
    for i in range(totals.size):
        quotient = totals[i] // divisor
        twice_rest = 2 * (totals[i] - quotient * divisor)
        target[i] = quotient + (twice_rest + (quotient & 1) > divisor)


@njit(cache=True, nogil=True)
def mean_rows(source, origin, target, first, height, channels):
    """Write the means of the pixels under each pixel, rounded to nearest and ties to even."""
    width = source.shape[2] // channels
    divisor = divisor_of(height) * divisor_of(width)
    # 255 * height fits in 32 bits, the sum over both axes need not.
    row, totals = np.empty(source.shape[2], np.int32), np.empty(target.shape[2], np.int64)
    for image in range(target.shape[0]):
        for y in range(target.shape[1]):
            top = 2 * (first + y)
            if divisor == 4:
                upper, lower = source[image, top - origin], source[image, top + 1 - origin]
                _mean_of_four_row(upper, lower, target[image, y], channels)
            else:
                sum_rows(source[image], origin, row, top, height, np.int32(1))
                sum_columns(row, totals, channels, np.int64(1))
                _round_to_even(totals, divisor, target[image, y])


@njit(cache=True, nogil=True)
def decode(encoded, linear, colors, table):
    """Write the linear light [N, C] of bytes [N, C]; channels from ``colors`` on are linear already."""
    for x in range(encoded.shape[0]):
        for c in range(encoded.shape[1]):
            linear[x, c] = table[encoded[x, c]] if c < colors else np.float32(encoded[x, c])


@njit(cache=True, nogil=True)
def encode(linear, encoded, colors, thresholds, first, bins_per_step):
    """The inverse of :func:`decode`, rounded to the nearest byte (see `color.byte_tables`)."""
    for x in range(linear.shape[0]):
        for c in range(linear.shape[1]):
            value = linear[x, c]
            if c < colors:
                byte = first[int(value * bins_per_step)]
                encoded[x, c] = byte + (value >= thresholds[byte + 1])
            else:
                encoded[x, c] = np.rint(value)
