"""Completion over all copies: the ready refinement of highest priority that still fits, until none does."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from hra.compiling import njit

# How far each window reaches down, as a share of the best priority that is left; the last one reaches the bottom.
_WINDOWS = (0.98, 0.95, 0.9, 0.8, 0.6, 0.3, 0.0)


@njit(cache=True, error_model="numpy")
def fill_copies(rows, gain, surplus, price, left, spend_all, selected):
    """Extend ``selected`` in place within ``left``, by falling gain per cost of what a refinement opens up.

    Ties go to the larger gain, then to the smaller cost, then to the row and the lane that come first. What gains
    nothing is taken only if ``spend_all``.

    Parameters
    ----------
    gain, surplus : float64, ``selected`` : bool, of all lanes; ``surplus`` at the ``price``, see `sets_at_price`.
    left : what remains of the capacity, in units.

    Returns
    -------
    What remains after it.
    """
    at, before, needed, costs = rows.at, rows.before, rows.needed, rows.cost
    for reach in _WINDOWS:
        best = _best_left(at, before, needed, costs, gain, surplus, selected, price, left, spend_all)
        if best < 0.0:
            break
        floor = reach * best if best < np.inf else np.inf
        heap = _candidates(at, before, needed, costs, gain, surplus, selected, price, left, spend_all, floor)
        while len(heap) > 0:
            _, _, cost, q, i = heappop(heap)
            if cost > left:
                continue
            selected[at[q] + i] = True
            left -= cost
            for k in range(rows.after[q], rows.after[q + 1]):
                s = rows.opened[k]
                place, rank = at[s] + i, _priority(surplus[at[s] + i], price, costs[s])
                fits = costs[s] <= left and rank >= floor and (spend_all or gain[place] > 0.0)
                if fits and _is_ready(at, before, needed, selected, s, i):
                    heappush(heap, (-rank, -gain[place], costs[s], s, i))
    return left


# Arrays are passed one by one: a tuple of them would be counted as used at each access, which takes longer than all
# else.


@njit(cache=True, error_model="numpy")
def _best_left(at, before, needed, costs, gain, surplus, selected, price, left, spend_all):
    """Highest priority of what is ready and fits, or -1."""
    best = -1.0
    for q in range(costs.size):
        if costs[q] > left:
            continue
        begin, end, lowest = at[q], at[q + 1], _surplus_at(best, price, costs[q])
        own, gained, taken = surplus[begin:end], gain[begin:end], selected[begin:end]
        for i in range(own.size):
            # The cheapest test first: nearly all lie below the best.
            if own[i] < lowest or taken[i] or not (spend_all or gained[i] > 0.0):
                continue
            if _is_ready(at, before, needed, selected, q, i):
                best = max(best, _priority(own[i], price, costs[q]))
                lowest = _surplus_at(best, price, costs[q])
    return best


@njit(cache=True, error_model="numpy")
def _candidates(at, before, needed, costs, gain, surplus, selected, price, left, spend_all, floor):
    """A heap of what is ready, fits, and ranks at or above ``floor``; least first: -priority, -gain, cost, place."""
    heap = [(0.0, 0.0, 0.0, np.int64(0), np.int64(0)) for _ in range(0)]
    for q in range(costs.size):
        if costs[q] > left:
            continue
        begin, end, lowest = at[q], at[q + 1], _surplus_at(floor, price, costs[q])
        own, gained, taken = surplus[begin:end], gain[begin:end], selected[begin:end]
        for i in range(own.size):
            if own[i] < lowest or taken[i] or not (spend_all or gained[i] > 0.0):
                continue
            rank = _priority(own[i], price, costs[q])
            if rank >= floor and _is_ready(at, before, needed, selected, q, i):
                heap.append((-rank, -gained[i], costs[q], np.int64(q), np.int64(i)))
    heapify(heap)
    return heap


@njit(cache=True, error_model="numpy")
def _priority(surplus, price, cost):
    """Gain per cost of a refinement with what it opens up; what is free comes before all that costs."""
    return max(price + surplus / cost, 0.0) if cost > 0.0 else np.inf


@njit(cache=True, error_model="numpy")
def _surplus_at(priority, price, cost):
    """A surplus below which no refinement of this ``cost`` has the ``priority``, whatever rounding does."""
    if cost == 0.0 or priority <= 0.0:
        return -np.inf
    return (priority - price) * cost - 1e-9 * max(priority, price) * cost


@njit(cache=True, error_model="numpy")
def _is_ready(at, before, needed, selected, q, i):
    for k in range(before[q], before[q + 1]):  # noqa: SIM110 (a generator does not compile)
        if not selected[at[needed[k]] + i]:
            return False
    return True
