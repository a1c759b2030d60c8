"""Sums over rectangles within patches, from tables of sums: what a patch adds to a bin takes four look-ups a channel.

Tables hold what pixels differ from the mean of their patch, so that single precision is enough for them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hra.compiling import njit
from hra.model.scratch import Scratch

_memory = Scratch()


class PatchSums(NamedTuple):
    """Of an image in N patches, row by row.

    mean : float64 [N, 3]; squares : float64 [N], summed squares of the differences from it.
    table : float32 [N, (patch + 1)**2, 3], the sum of the differences above and to the left of each place.
    """

    mean: np.ndarray
    squares: np.ndarray
    table: np.ndarray


def patch_sums(image: np.ndarray, patch: int) -> PatchSums:
    """The sums of an image float32 [H, W, 3]. The table is only valid until this thread makes the next one."""
    count = -(-image.shape[0] // patch) * -(-image.shape[1] // patch)
    # Memory of this size costs more to get than to fill.
    table = _memory.array("table", (count, (patch + 1) ** 2, 3), np.float32)
    mean, squares = np.zeros((count, 3)), np.zeros(count)
    _fill(image, patch, mean, squares, table)
    return PatchSums(mean, squares, table)


@njit(cache=True, nogil=True)
def _fill(image, patch, mean, squares, table):
    height, width, _ = image.shape
    columns = -(-width // patch)
    for number in range(len(mean)):
        y, x = number // columns * patch, number % columns * patch
        pixels = image[y : min(y + patch, height), x : min(x + patch, width)]
        _fill_mean(pixels, mean[number])
        squares[number] = _fill_table(pixels, mean[number], patch + 1, table[number])


@njit(cache=True, nogil=True)
def _fill_mean(pixels, mean):
    rows, columns, _ = pixels.shape
    red, green, blue = 0.0, 0.0, 0.0  # in double precision: patches of one colour have no difference at all
    for y in range(rows):
        for x in range(columns):
            red += pixels[y, x, 0]
            green += pixels[y, x, 1]
            blue += pixels[y, x, 2]
    area = rows * columns
    mean[0], mean[1], mean[2] = red / area, green / area, blue / area


@njit(cache=True, nogil=True)
def _fill_table(pixels, mean, stride, table):
    """Fill ``table`` [stride**2, 3]; returns the sum of squares."""
    rows, columns, _ = pixels.shape
    for c in range(3):
        for x in range(columns + 1):
            table[x, c] = 0
    total = 0.0
    for y in range(rows):
        at, squares = (y + 1) * stride, np.float32(0)
        for c in range(3):
            table[at, c] = 0
            middle, running = np.float32(mean[c]), np.float32(0)
            for x in range(columns):
                difference = pixels[y, x, c] - middle
                squares += difference * difference
                running += difference
                table[at + x + 1, c] = running + table[at - stride + x + 1, c]
        total += squares
    return total


@njit(cache=True, nogil=True, inline="always")
def rectangle(table, stride, y0, y1, x0, x1, c):
    """Sum of the differences in rows [y0, y1) and columns [x0, x1) of a patch."""
    low, high = y0 * stride, y1 * stride
    return table[high + x1, c] - table[high + x0, c] - table[low + x1, c] + table[low + x0, c]
