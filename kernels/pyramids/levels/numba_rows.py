"""Numba loops that reduce a block of rows of a batch of images: extrema, means, and sRGB to and from linear light.

A source is [K, rows, W * C] and begins with row ``origin`` of its images, which are ``height`` rows high; a target is
[K, rows, w * C] and begins with row ``first``. Loops for 1, 3 and 4 channels are compiled apart: LLVM turns them into
vector code only if it knows the stride. Means of bytes are rounded.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit


@njit(cache=True)
def better(a, b, smallest):
    """The smaller or the larger number; NaN if one of them is."""
    wins = a < b if smallest else a > b
    return a if wins | (a != a) else b  # a != a: NaN wins on either side; without branches


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
            # The last row of an odd height is its own partner: an extremum does not mind to count it twice.
            top = 2 * (first + y)
            upper, lower = source[image, top - origin], source[image, min(top + 1, height - 1) - origin]
            _extremum_row(upper, lower, target[image, y], channels, smallest)


@njit(cache=True)
def _shares(i, count, blocks):
    """Integer weights of the pixels 2i - 1, 2i and 2i + 1 in output pixel i (derived in the reference)."""
    if blocks and 2 * i + 1 == count:
        return 0, 2, 0
    if blocks or count % 2 == 0:
        return 0, 1, 1
    length = (count + 1) // 2
    return i, length, length - 1 - i


@njit(cache=True)
def divisor_of(count, blocks):
    """The sum of the shares of an output pixel."""
    return count if count % 2 == 1 and not blocks else 2


@njit(cache=True)
def sum_rows(source, origin, row, top, height, unit, blocks):
    """Set ``row`` to the weighted sum of the source rows under the target row ``top // 2``."""
    weight = row.dtype.type
    before, middle, after = _shares(top // 2, height, blocks)
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
        before, middle, after = _shares(x, count, False)
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
    for x in range(row.size // channels // 2):
        for c in range(channels):
            i = 2 * x * channels + c
            target[x * channels + c] = row[i] * unit + row[i + channels] * unit


@njit(cache=True)
def sum_columns(row, target, channels, unit, blocks):
    """Write the weighted sums of the columns of ``row`` under each pixel of ``target``."""
    if row.size // channels % 2 == 1 and not blocks:
        _sum_odd_columns(row, target, channels, unit)
    elif channels == 1:
        _sum_pairs(row, target, 1, unit)
    elif channels == 3:
        _sum_pairs(row, target, 3, unit)
    elif channels == 4:
        _sum_pairs(row, target, 4, unit)
    else:
        _sum_pairs(row, target, channels, unit)
    if row.size // channels % 2 == 1 and blocks:
        for c in range(channels):
            target[target.size - channels + c] = row[row.size - channels + c] * (target.dtype.type(2) * unit)


@njit(cache=True, nogil=True)
def mean_rows(source, origin, target, first, height, channels, blocks):
    """Write the means of the pixels under each pixel, float32."""
    # Shares are divided before they are added up: sums of large float32 do not overflow.
    unit_y = np.float32(1.0 / divisor_of(height, blocks))
    unit_x = np.float32(1.0 / divisor_of(source.shape[2] // channels, blocks))
    row = np.empty(source.shape[2], np.float32)
    for image in range(target.shape[0]):
        for y in range(target.shape[1]):
            sum_rows(source[image], origin, row, 2 * (first + y), height, unit_y, blocks)
            sum_columns(row, target[image, y], channels, unit_x, blocks)


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
        # Exact, in whole numbers: up if the rest is more than half, or just half beside an odd quotient.
        twice_rest = 2 * (totals[i] - quotient * divisor)
        target[i] = quotient + (twice_rest + (quotient & 1) > divisor)


@njit(cache=True, nogil=True)
def byte_mean_rows(source, origin, target, first, height, channels, blocks):
    """Write the means of the pixels under each pixel, rounded to nearest and ties to even."""
    width = source.shape[2] // channels
    divisor = divisor_of(height, blocks) * divisor_of(width, blocks)
    # 255 * height fits in 32 bits, the sum over both axes need not.
    row, totals = np.empty(source.shape[2], np.int32), np.empty(target.shape[2], np.int64)
    for image in range(target.shape[0]):
        for y in range(target.shape[1]):
            top = 2 * (first + y)
            if divisor == 4 and height % 2 == 0 and width % 2 == 0:
                upper, lower = source[image, top - origin], source[image, top + 1 - origin]
                _mean_of_four_row(upper, lower, target[image, y], channels)
            else:
                sum_rows(source[image], origin, row, top, height, np.int32(1), blocks)
                sum_columns(row, totals, channels, np.int64(1), blocks)
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
                # Rounding may lift the mean of white above 255, but not by a bin. A bin holds one threshold at most, so
                # that one comparison finds the byte.
                byte = first[int(value * bins_per_step)]
                encoded[x, c] = byte + (value >= thresholds[byte + 1])
            else:
                encoded[x, c] = np.rint(value)


# Halves have 10 bits of mantissa and an exponent less by 112 than that of float32, of which Numba knows no other.
_UP = np.float32(2.0**112)
_SUBNORMAL = np.uint32((127 - 15 + 23 - 10 + 1) << 23)
_ADDED = np.float32(0.5)


@njit(cache=True, nogil=True)
def decode_halves(halves, values, bits):
    """Write the float32 values of float16 numbers given as bits, [K, rows, N]; ``bits`` is the memory of ``values``."""
    for image in range(halves.shape[0]):
        for y in range(halves.shape[1]):
            source, number, word = halves[image, y], values[image, y], bits[image, y]
            for i in range(source.size):
                word[i] = np.uint32(source[i] & np.uint16(0x7FFF)) << np.uint32(13)
            for i in range(source.size):
                number[i] *= _UP  # subnormal numbers become normal ones
            for i in range(source.size):
                endless = np.uint32(0x7F800000) if source[i] & np.uint16(0x7C00) == np.uint16(0x7C00) else np.uint32(0)
                word[i] |= endless | np.uint32(source[i] & np.uint16(0x8000)) << np.uint32(16)


@njit(cache=True, nogil=True)
def encode_halves(values, bits, halves):
    """The inverse of :func:`decode_halves`, rounded to nearest and ties to even; ``values`` are overwritten.

    Source: F. Giesen, float_to_half_fast3_rtne (public domain, 2012).
    """
    sign = np.empty(values.shape[2], np.uint16)
    small = np.empty(values.shape[2], np.uint32)
    small_number = small.view(np.float32)
    for image in range(values.shape[0]):
        for y in range(values.shape[1]):
            number, word, target = values[image, y], bits[image, y], halves[image, y]
            for i in range(word.size):
                sign[i] = np.uint16(word[i] >> np.uint32(16)) & np.uint16(0x8000)
                word[i] &= np.uint32(0x7FFFFFFF)
            for i in range(word.size):
                small_number[i] = number[i] + _ADDED  # shifts the mantissa of a subnormal half to the last bits
            for i in range(word.size):
                rounded = word[i] + np.uint32(0xC8000FFF) + (word[i] >> np.uint32(13) & np.uint32(1))
                found = np.uint16(rounded >> np.uint32(13))
                found = np.uint16(small[i] - _SUBNORMAL) if word[i] < np.uint32(113 << 23) else found
                found = np.uint16(0x7C00) if word[i] >= np.uint32(143 << 23) else found
                found = np.uint16(0x7E00) if word[i] > np.uint32(0x7F800000) else found
                target[i] = found | sign[i]
