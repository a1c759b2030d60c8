"""Completion over all copies: the ready refinement of highest priority that still fits, until none does."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from hra.compiling import njit
from hra.solvers.copies.blocks import LANES, count_of, lanes_of

# How far each window reaches down, as a share of the best priority that is left; the last one reaches the bottom.
_WINDOWS = (0.98, 0.95, 0.9, 0.8, 0.6, 0.3, 0.0)
# The first window, as a share of the price.
_NEAR = 0.98


@njit(cache=True, error_model="numpy")
def fill_copies(rows, gain, surplus, price, left, spend_all, selected):
    """Extend ``selected`` in place within ``left``, by falling gain per cost of what a refinement opens up.

    Ties go to the larger gain, then to the smaller cost, then to the row and the lane that come first. What gains
    nothing is taken only if ``spend_all``.

    Parameters
    ----------
    gain, surplus : float64, ``selected`` : bool, of all lanes in blocks; ``surplus`` at the ``price``, see
        `hra.solvers.copies.at_price.surplus_at_price`.
    left : what remains of the capacity, in units.

    Returns
    -------
    What remains after it.
    """
    kind_of = np.empty(rows.first[-1], np.int64)
    for kind in range(rows.first.size - 1):
        for q in range(rows.first[kind], rows.first[kind + 1]):
            kind_of[q] = kind
    for n in range(-1, len(_WINDOWS)):
        # Most that is left ranks just below the price.
        floor = _NEAR * price
        if n >= 0:
            best = _best_left(rows, gain, surplus, price, left, spend_all, selected)
            if best < 0.0:
                break
            floor = _WINDOWS[n] * best if best < np.inf else np.inf
        heap = _candidates(rows, gain, surplus, price, left, spend_all, selected, floor)
        while len(heap) > 0:
            _, _, cost, q, i = heappop(heap)
            if cost > left:
                continue
            kind, lane = kind_of[q], i // LANES * LANES
            taken, begin, i = lanes_of(rows, kind, lane, selected), rows.first[kind], i - lane
            gains, own = lanes_of(rows, kind, lane, gain), lanes_of(rows, kind, lane, surplus)
            taken[q - begin, i] = True
            left -= cost
            for k in range(rows.after[q], rows.after[q + 1]):
                s = rows.opened[k]
                gained, rank = gains[s - begin, i], _priority(own[s - begin, i], price, rows.cost[s])
                fits = rows.cost[s] <= left and rank >= floor and (spend_all or gained > 0.0)
                if fits and _is_ready(rows.before, rows.needed, begin, taken, s, i):
                    heappush(heap, (-rank, -gained, rows.cost[s], s, lane + i))
    return left


@njit(cache=True, error_model="numpy")
def _best_left(rows, gain, surplus, price, left, spend_all, selected):
    """Highest priority of what is ready and fits, or -1."""
    best, before, needed, costs = -1.0, rows.before, rows.needed, rows.cost
    for kind in range(rows.first.size - 1):
        begin, end = rows.first[kind], rows.first[kind + 1]
        for lane in range(0, count_of(rows, kind), LANES):
            gains, own = lanes_of(rows, kind, lane, gain), lanes_of(rows, kind, lane, surplus)
            taken = lanes_of(rows, kind, lane, selected)
            for q in range(begin, end):
                r, lowest = q - begin, _surplus_at(best, price, costs[q])
                if costs[q] > left or not _any_above(own, taken, r, lowest):
                    continue
                for i in range(own.shape[1]):
                    if own[r, i] < lowest or taken[r, i] or not (spend_all or gains[r, i] > 0.0):
                        continue
                    if _is_ready(before, needed, begin, taken, q, i):
                        best = max(best, _priority(own[r, i], price, costs[q]))
                        lowest = _surplus_at(best, price, costs[q])
    return best


@njit(cache=True, error_model="numpy")
def _candidates(rows, gain, surplus, price, left, spend_all, selected, floor):
    """A heap of what is ready, fits, and ranks at or above ``floor``; least first: -priority, -gain, cost, place."""
    heap = [(0.0, 0.0, 0.0, np.int64(0), np.int64(0)) for _ in range(0)]
    before, needed, costs = rows.before, rows.needed, rows.cost
    for kind in range(rows.first.size - 1):
        begin, end = rows.first[kind], rows.first[kind + 1]
        for lane in range(0, count_of(rows, kind), LANES):
            gains, own = lanes_of(rows, kind, lane, gain), lanes_of(rows, kind, lane, surplus)
            taken = lanes_of(rows, kind, lane, selected)
            for q in range(begin, end):
                r, lowest = q - begin, _surplus_at(floor, price, costs[q])
                if costs[q] > left or not _any_above(own, taken, r, lowest):
                    continue
                for i in range(own.shape[1]):
                    if own[r, i] < lowest or taken[r, i] or not (spend_all or gains[r, i] > 0.0):
                        continue
                    rank = _priority(own[r, i], price, costs[q])
                    if rank >= floor and _is_ready(before, needed, begin, taken, q, i):
                        heap.append((-rank, -gains[r, i], costs[q], np.int64(q), np.int64(lane + i)))
    heapify(heap)
    return heap


@njit(cache=True, error_model="numpy")
def _any_above(surplus, taken, r, lowest):
    """Whether a lane of row ``r`` that is not taken may have what it needs: nearly all rows have none."""
    count = 0
    for i in range(surplus.shape[1]):
        count += (not surplus[r, i] < lowest) & (not taken[r, i])
    return count > 0


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
def _is_ready(before, needed, begin, taken, q, i):
    for k in range(before[q], before[q + 1]):  # noqa: SIM110 (a generator does not compile)
        if not taken[needed[k] - begin, i]:
            return False
    return True
