"""The best sets of all copies at one price, and the bound that it proves; see `hra.solvers.dag.split_flow`.

Copies of a kind share the order of refinements, so that each step is taken for a block of them at once: the innermost
loops run over copies and are vectorised.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.solvers.copies.blocks import shares_of
from hra.solvers.copies.lanes import LANES, count_of, lanes_of
from hra.solvers.copies.taking import best_sets


@njit(cache=True, error_model="numpy")
def sets_at_price(rows, gain, price, share, reach, selected):
    """Fill ``selected`` with sets that are good at a price; returns their cost, their worth, and a bound on it.

    Worth is gain without what is paid. Every refinement in surplus hands it to its predecessors.

    Parameters
    ----------
    rows : `hra.solvers.copies.copies.Rows`.
    gain : float64, ``selected`` : bool, of all lanes in blocks, see `hra.solvers.copies.lanes.in_blocks`.
    share : `hra.solvers.copies.blocks.Shares`.
    reach : int64 [blocks], how many rows of each block are looked at: none beyond is in surplus. Lowered to what is.
    """
    spent, worth, bound = 0.0, 0.0, 0.0
    for kind in range(rows.first.size - 1):
        begin, end = rows.first[kind], rows.first[kind + 1]
        # Used again for each block, so that it stays in the cache.
        alive, room = np.empty(end - begin, np.bool_), np.empty((end - begin) * LANES)
        for lane in range(0, count_of(rows, kind), LANES):
            gains, block = lanes_of(rows, kind, lane, gain), share.first[kind] + lane // LANES
            left, stop = room[: gains.size].reshape(gains.shape), reach[block]
            bound += pass_on(rows, begin, stop, gains, price, shares_of(rows, share, kind, block), left, alive)
            while stop > 0 and not alive[stop - 1]:
                stop -= 1
            taken = lanes_of(rows, kind, lane, selected)
            cost, own = best_sets(rows, begin, stop, gains, price, left, alive, taken)
            spent, worth = spent + cost, worth + own
            reach[block] = stop
    return spent, worth, bound


@njit(cache=True, error_model="numpy")
def surplus_at_price(rows, gain, price, share, reach, surplus):
    """Fill ``surplus`` with what each refinement has at a price; see `sets_at_price`."""
    for kind in range(rows.first.size - 1):
        begin, alive = rows.first[kind], np.empty(rows.first[kind + 1] - rows.first[kind], np.bool_)
        for lane in range(0, count_of(rows, kind), LANES):
            block = share.first[kind] + lane // LANES
            gains, left = lanes_of(rows, kind, lane, gain), lanes_of(rows, kind, lane, surplus)
            stop = reach[block]
            pass_on(rows, begin, stop, gains, price, shares_of(rows, share, kind, block), left, alive)
            _worth(rows.cost[begin:], stop, left.shape[0], gains, price, left)


# Loops are over whole blocks of lanes, side by side in memory: rows that were cut out of longer ones took three times
# as long. Arrays of a tuple are taken out once, since they are counted as used at each access.


@njit(cache=True, error_model="numpy")
def pass_on(rows, begin, stop, gain, price, share, left, alive):
    """Fill ``left`` [R, lanes] with the surplus of each refinement, from fine to coarse; returns what is on top.

    Parameters
    ----------
    begin : row of the kind's first refinement; ``stop`` : how many are looked at.
    gain : float64 [R, lanes], of one block; ``share`` : float64 [E, 1] or [E, lanes], its own.
    alive : bool [R], filled: whether any copy of the block has a surplus there.
    """
    before, needed, edges, top = rows.before[begin:], rows.needed, rows.before[begin], 0.0
    _worth(rows.cost[begin:], 0, stop, gain, price, left)
    for r in range(stop - 1, -1, -1):
        count = 0
        for i in range(left.shape[1]):
            count += left[r, i] > 0.0
        alive[r] = count > 0
        if count == 0:
            continue
        if before[r] == before[r + 1]:
            for i in range(left.shape[1]):
                top += left[r, i] if left[r, i] > 0.0 else 0.0
        for k in range(before[r], before[r + 1]):
            _hand_over(left, r, share, k - edges, needed[k] - begin)
    return top


@njit(cache=True, error_model="numpy")
def _worth(cost, begin, end, gain, price, result):
    for r in range(begin, end):
        paid = price * cost[r]
        for i in range(result.shape[1]):
            result[r, i] = gain[r, i] - paid


@njit(cache=True, error_model="numpy")
def _hand_over(left, r, share, k, p):
    """Add the share ``k`` of what row ``r`` has above 0 to row ``p``."""
    if share.shape[1] == 1:
        part = share[k, 0]
        for i in range(left.shape[1]):
            left[p, i] += part * (left[r, i] if left[r, i] > 0.0 else 0.0)
    else:
        for i in range(left.shape[1]):
            left[p, i] += share[k, i] * (left[r, i] if left[r, i] > 0.0 else 0.0)
