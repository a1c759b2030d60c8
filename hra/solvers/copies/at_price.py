"""The best sets of all copies at one price, and the bound that it proves; see `hra.solvers.dag.split_flow`.

Copies of a kind share the order of refinements, so that each step is taken for a block of them at once: the innermost
loops run over copies and are vectorised.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.solvers.copies.blocks import LANES, count_of, lanes_of, shares_of

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


@njit(cache=True, error_model="numpy")
def sets_at_price(rows, gain, price, share, reach, selected):
    """Fill ``selected`` with sets that are good at a price; returns their cost, their worth, and a bound on it.

    Worth is gain without what is paid. Every refinement in surplus hands it to its predecessors.

    Parameters
    ----------
    rows : `hra.solvers.copies.copies.Rows`.
    gain : float64, ``selected`` : bool, of all lanes in blocks, see `hra.solvers.copies.blocks.in_blocks`.
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
