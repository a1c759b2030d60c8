"""Sets of a block of copies from what each refinement has left."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit

# Part of its cost that a refinement may lack if it leads to a surplus.
_LACK = 0.4


@njit(cache=True, error_model="numpy")
def best_sets(rows, begin, stop, gain, price, left, alive, selected):
    """Fill ``selected`` with the better of two sets for each copy of a block; returns what all cost and are worth.

    What is in surplus stops at each refinement that lacks a little, and what lies beneath is lost. So some more are
    taken that lack up to a part of what they cost, if they lead to a surplus.

    Parameters
    ----------
    begin, stop, gain, left, alive : see `hra.solvers.copies.at_price.pass_on`; what lies beyond ``stop`` is not taken.
    """
    wider, more = np.empty((stop, selected.shape[1]), np.bool_), np.zeros(selected.shape[1])
    selected[stop:] = False
    _take(rows, begin, stop, 0.0, left, alive, selected)
    _take(rows, begin, stop, _LACK * price, left, alive, wider)
    _trim(rows, begin, stop, left, alive, wider)
    cost, spent, worth = rows.cost[begin:], 0.0, 0.0
    # The wider sets hold the others: what they have more counts.
    for r in range(stop):
        paid = price * cost[r]
        for i in range(more.size):
            more[i] += gain[r, i] - paid if wider[r, i] and not selected[r, i] else 0.0
    is_better = more > 0.0
    for r in range(stop):
        count = 0
        for i in range(more.size):
            selected[r, i] |= wider[r, i] & is_better[i]
            count += selected[r, i]
        spent += cost[r] * count
        if count > 0:
            worth += _gained(gain, selected, r) - price * (cost[r] * count)
    return spent, worth


# A sum in any order, or it would be taken one after the other.
@njit(cache=True, error_model="numpy", fastmath={"reassoc"})
def _gained(gain, selected, r):
    total = 0.0
    for i in range(gain.shape[1]):
        total += gain[r, i] if selected[r, i] else 0.0
    return total


@njit(cache=True, error_model="numpy")
def _take(rows, begin, stop, lack, left, alive, taken):
    """Select what lacks no more than ``lack`` times its cost, and has all its predecessors."""
    before, needed, cost = rows.before[begin:], rows.needed, rows.cost[begin:]
    for r in range(stop):
        least = -lack * cost[r]
        for i in range(left.shape[1]):
            taken[r, i] = alive[r] and left[r, i] > least
        if not alive[r]:
            continue
        for k in range(before[r], before[r + 1]):
            p = needed[k] - begin
            for i in range(left.shape[1]):
                taken[r, i] &= taken[p, i]


@njit(cache=True, error_model="numpy")
def _trim(rows, begin, stop, left, alive, taken):
    """Leave out what has no surplus and leads to none."""
    after, opened, leads = rows.after[begin:], rows.opened, np.empty(left.shape[1], np.bool_)
    for r in range(stop - 1, -1, -1):
        if not alive[r]:
            continue
        for i in range(leads.size):
            leads[i] = left[r, i] > 0.0
        for k in range(after[r], after[r + 1]):
            s = opened[k] - begin
            if s < stop and alive[s]:
                for i in range(leads.size):
                    leads[i] |= taken[s, i]
        for i in range(leads.size):
            taken[r, i] &= leads[i]
