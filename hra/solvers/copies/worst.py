"""Shares of the few copies whose bound is loosest, see `hra.solvers.copies.shares`."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.solvers.copies.at_price import pass_on
from hra.solvers.copies.blocks import shares_of
from hra.solvers.copies.lanes import LANES, count_of, lanes_of
from hra.solvers.copies.shares import shift_each

# Copies of a kind at a time; of what all lose to their shares, these lose most.
_WORST = 16


@njit(cache=True, error_model="numpy")
def improve_worst(rows, gain, price, share, reach, selected, steps):
    """Steps of the shares of a few copies that have their own: of those that lose most to them.

    Parameters
    ----------
    rows, gain, price, share, reach, selected : as `sets_at_price` has left them at the price.
    steps : float64, as ``steps_alone`` of `improve_shares`.
    """
    for kind in range(rows.first.size - 1):
        begin, end = rows.first[kind], rows.first[kind + 1]
        worst = np.argsort(-_lost(rows, kind, gain, price, share, reach, selected))[:_WORST]
        size, edges = worst.size, rows.before[end] - rows.before[begin]
        if size < 2:
            continue
        gains, own = np.empty((end - begin, size)), np.empty((edges, size))
        left, reaching, alive = np.empty_like(gains), np.empty_like(gains), np.empty(end - begin, np.bool_)
        for i in range(size):
            lane, at = worst[i] // LANES * LANES, worst[i] % LANES
            _copy(lanes_of(rows, kind, lane, gain), at, gains, i)
            _copy(shares_of(rows, share, kind, share.first[kind] + lane // LANES), at, own, i)
        for step in steps:
            pass_on(rows, begin, end - begin, gains, price, own, left, alive)
            shift_each(rows, begin, end - begin, own, left, alive, reaching, step)
        for i in range(size):
            block = share.first[kind] + worst[i] // LANES
            _copy(own, i, shares_of(rows, share, kind, block), worst[i] % LANES)


@njit(cache=True)
def _copy(values, i, result, k):
    """Column ``i`` to column ``k``; assigned slices would take seconds to compile."""
    for r in range(values.shape[0]):
        result[r, k] = values[r, i]


@njit(cache=True, error_model="numpy")
def _lost(rows, kind, gain, price, share, reach, selected):
    """What the bound of each copy with shares of its own exceeds the worth of its set by, the first copies' [n]."""
    begin, end = rows.first[kind], rows.first[kind + 1]
    result, known = np.zeros(count_of(rows, kind)), 0
    alive, room = np.empty(end - begin, np.bool_), np.empty((end - begin) * LANES)
    for lane in range(0, result.size, LANES):
        block = share.first[kind] + lane // LANES
        own = shares_of(rows, share, kind, block)
        gains, taken = lanes_of(rows, kind, lane, gain), lanes_of(rows, kind, lane, selected)
        if own.shape[1] == 1:
            break
        left, known = room[: gains.size].reshape(gains.shape), lane + gains.shape[1]
        pass_on(rows, begin, reach[block], gains, price, own, left, alive)
        for r in range(reach[block]):
            paid, at_top = price * rows.cost[begin + r], rows.before[begin + r] == rows.before[begin + r + 1]
            for i in range(left.shape[1]):
                result[lane + i] -= gains[r, i] - paid if taken[r, i] else 0.0
                result[lane + i] += left[r, i] if at_top and left[r, i] > 0.0 else 0.0
    return result[:known]
