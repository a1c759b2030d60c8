"""Refinements that are not worth their price alone, but with what they open up.

A set of all that is in surplus stops at each refinement that lacks a little, be it because shares are nearly the best
ones and not quite, and what lies beneath is lost.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit


@njit(cache=True, error_model="numpy")
def pull(rows, begin, stop, gain, price, lane, width, left, alive, selected):
    """Add to the sets of a block refinements in deficit which pay together with what they open; returns the cost.

    Parameters
    ----------
    begin, stop : the rows to look at; ``lane``, ``width`` : the copies of the block.
    left, alive : see `pass_on`; ``selected`` : of all lanes.
    """
    spent, opened = 0.0, np.empty(stop - begin, np.int64)
    for q in range(begin, stop):
        if not _opens(rows, q, begin, stop, alive):
            continue
        for i in range(width):
            short = left[q - begin, i]
            if not selected[rows.at[q] + lane + i] and short <= 0.0 and _is_ready(rows, q, lane + i, selected):
                spent += _try(rows, q, i, stop, gain, price, lane, left, opened, selected)
    return spent


@njit(cache=True, error_model="numpy")
def _opens(rows, q, begin, stop, alive):
    """Whether something in surplus follows."""
    for k in range(rows.after[q], rows.after[q + 1]):  # noqa: SIM110 (a generator does not compile)
        if rows.opened[k] < stop and alive[rows.opened[k] - begin]:
            return True
    return False


@njit(cache=True, error_model="numpy")
def _try(rows, q, i, stop, gain, price, lane, left, opened, selected):
    """Select ``q`` with all in surplus that it opens, if together they are worth more than they cost."""
    begin = stop - opened.size
    opened[0], count, place, spent, worth = q, 1, 0, 0.0, 0.0
    selected[rows.at[q] + lane + i] = True
    while place < count:
        r = opened[place]
        place, spent = place + 1, spent + rows.cost[r]
        worth += gain[rows.at[r] + lane + i] - price * rows.cost[r]
        for k in range(rows.after[r], rows.after[r + 1]):
            s = rows.opened[k]
            if s >= stop or left[s - begin, i] <= 0.0 or selected[rows.at[s] + lane + i]:
                continue
            if _is_ready(rows, s, lane + i, selected):
                selected[rows.at[s] + lane + i] = True
                opened[count] = s
                count += 1
    if worth > 0.0:
        return spent
    for place in range(count):
        selected[rows.at[opened[place]] + lane + i] = False
    return 0.0


@njit(cache=True, error_model="numpy")
def _is_ready(rows, q, i, selected):
    for k in range(rows.before[q], rows.before[q + 1]):  # noqa: SIM110 (a generator does not compile)
        if not selected[rows.at[rows.needed[k]] + i]:
            return False
    return True
