"""What stands beside a line, where forms and receipts put values, and the patches under it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hra.domains.tokens.text.lines import TextLine

_SAME_ROW = 0.5  # of the smaller height must overlap


def right_neighbour(number: int, lines: Sequence[TextLine]) -> int | None:
    """The next line to the right in the same row; None without one.

    The row is followed along the slope of the line, which photographs tilt.
    """
    start, slope = lines[number].quad[1:3].mean(axis=0), _slope(lines[number])
    candidates = []
    for other, line in enumerate(lines):
        left = line.quad[[0, 3]].mean(axis=0)
        across, expected = left[0] - start[0], start[1] + slope * (left[0] - start[0])
        aligned = abs(left[1] - expected) < _SAME_ROW * min(line.height, lines[number].height)
        if other != number and aligned and across > -0.5 * line.height:
            candidates.append((across, other))
    return min(candidates)[1] if candidates else None


def _slope(line: TextLine) -> float:
    across, down = line.quad[1] - line.quad[0]
    return float(down / across) if line.aspect > 1 and across > 0 else 0.0


def patches_under(quad: np.ndarray, grid: tuple[int, int], patch: int) -> np.ndarray:
    """Which finest patches the bounding box of a quadrangle [4, 2] in pixels meets, bool [rows, columns]."""
    inside = np.zeros(grid, bool)
    (x0, y0), (x1, y1) = quad.min(axis=0), quad.max(axis=0)
    first, last = np.floor([y0 / patch, x0 / patch]), np.ceil([y1 / patch, x1 / patch])
    (top, left), (bottom, right) = np.maximum(first, 0).astype(int), np.maximum(last, 0).astype(int)
    inside[top:bottom, left:right] = True
    return inside
