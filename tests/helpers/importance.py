"""Importance of rectangles of the screen in plain NumPy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def touched(rect: Sequence[int], shape: tuple[int, ...], viewport: tuple[int, int]) -> tuple[int, int, int, int]:
    """The values of a map of ``shape`` (rows, columns) that a rectangle of whole pixels touches, first and last."""
    found, axes = [], ((rect[0], rect[2], shape[1], viewport[0]), (rect[1], rect[3], shape[0], viewport[1]))
    for first, last, count, pixels in axes:
        begin, end = np.arange(count) * pixels, (np.arange(count) + 1) * pixels
        over = np.flatnonzero((end > first * count) & (begin < (last + 1) * count))
        found.append((int(over[0]), int(over[-1])))
    (x0, x1), (y0, y1) = found
    return x0, y0, x1, y1


def blocks(values: np.ndarray, rect: Sequence[int]) -> float:
    """The largest value in the smallest aligned blocks of 2**n values of which at most two by two hold ``rect``."""
    x0, y0, x1, y1 = rect
    n = 0
    while (x1 >> n) - (x0 >> n) > 1 or (y1 >> n) - (y0 >> n) > 1:
        n += 1
    rows, columns = slice((y0 >> n) << n, ((y1 >> n) + 1) << n), slice((x0 >> n) << n, ((x1 >> n) + 1) << n)
    return float(values[rows, columns].max())
