"""An order for sweeps over a forest in which parents meet their children while these are still in cache."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit

# Refinements that a block should hold: their gains, costs and results fit the second-level cache several times.
_SIZE = 2048


@njit(cache=True)
def blocks(first_child):
    """Ranges of refinements that cover a forest, children before their parents.

    Level by level, a sweep over a large forest comes to a parent long after its children left the cache. Instead, a
    level is cut into pieces, and each piece follows all that lies beneath it.

    Parameters
    ----------
    first_child : int32 [R + 1], the children of r are ``first_child[r] .. first_child[r + 1] - 1``.

    Returns
    -------
    ranges : int64 [K, 2], begin and end of each. The last may hold several levels and is to be swept backwards.
    """
    n = first_child.size - 1
    pieces = n // _SIZE
    # The level that is cut is wide enough for four refinements or more in every piece.
    low, high = wide_level(first_child, 4 * pieces if pieces > 1 else n + 1)
    depth, end = 0, high
    # In level order the children of a range are a range: they begin and end where those of its ends begin.
    while low < end < n:
        depth, end = depth + 1, first_child[end]
    # For each piece a range per level at most, and one for all that lies above the cut.
    ranges = np.empty((min(pieces * (depth + 1), n) + 1, 2), np.int64)
    count, size = 0, high - low
    for p in range(pieces - 1, -1, -1):
        above = count
        begin, end = low + size * p // pieces, low + size * (p + 1) // pieces
        while begin < end:
            ranges[count, 0], ranges[count, 1] = begin, end
            begin, end = first_child[begin], first_child[end]
            count += 1
        # Turned round by hand: assigning slices makes Numba compile a second's worth of error messages.
        for i in range((count - above) // 2):
            for side in range(2):
                first, last = ranges[above + i, side], ranges[count - 1 - i, side]
                ranges[above + i, side], ranges[count - 1 - i, side] = last, first
    ranges[count, 0], ranges[count, 1] = 0, low
    return ranges[: count + 1]


@njit(cache=True)
def wide_level(first_child, width):
    """Begin and end of the first level of at least ``width`` refinements; (R, R) if there is none."""
    n = first_child.size - 1
    low, high = 0, first_child[0]
    while low < n and high - low < width:
        low, high = high, first_child[high]
    return low, high
