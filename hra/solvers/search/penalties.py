"""What it costs to go against the relaxation: the key to deciding most refinements before an exact search.

At a price let every refinement pass its surplus on to its predecessors (see `split_flow`). A down-closed set then falls
short of the bound by exactly what it loses: a deficit that it takes, a surplus that it leaves (that part of it whose
predecessors it takes), and price times unused capacity. Surpluses are enclosed between two doubles, and losses are
computed from the end that makes them smaller: what is ruled out here is ruled out in exact arithmetic.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hra.compiling import njit
from hra.model.precise import down, up


class Relaxed(NamedTuple):
    """A relaxation at one price.

    before, predecessors : offsets [R + 1] and indices [E] of the partial order, from coarse to fine.
    share : float64 [E], how refinements split their surplus over their predecessors.
    low, high : float64 [R], doubles around each surplus.
    gain, cost : float64 [R]; price : gain per cost unit.
    """

    before: np.ndarray
    predecessors: np.ndarray
    share: np.ndarray
    low: np.ndarray
    high: np.ndarray
    gain: np.ndarray
    cost: np.ndarray
    price: float


@njit(cache=True, nogil=True)
def relax(before, predecessors, share, gain, cost, price):
    """The relaxation at ``price``: surplus pushed from fine to coarse in the given shares [E]."""
    n = gain.size
    low, high = np.empty(n), np.empty(n)
    for r in range(n):
        paid = price * cost[r]
        low[r], high[r] = down(gain[r] - up(paid)), up(gain[r] - down(paid))
    # Every operation is rounded outward: low <= surplus <= high holds in exact arithmetic.
    for r in range(n - 1, -1, -1):
        if high[r] > 0.0:
            for k in range(before[r], before[r + 1]):
                p = predecessors[k]
                # max(surplus, 0) is passed on, of which 0 is the lower end where the sign is not sure.
                if low[r] > 0.0:
                    low[p] = down(low[p] + down(share[k] * low[r]))
                high[p] = up(high[p] + up(share[k] * high[r]))
    return Relaxed(before, predecessors, share, low, high, gain, cost, price)


@njit(cache=True, nogil=True)
def loss_of(relaxed, capacity, selected):
    """What a down-closed set [R] within the capacity loses against the bound of the relaxation, rounded up.

    Shares of several predecessors add up to less than 1 (see `Exact`); what they lack counts as left.
    """
    lost, spent = 0.0, 0.0
    for r in range(selected.size):
        begin, end = relaxed.before[r], relaxed.before[r + 1]
        if selected[r]:
            spent += relaxed.cost[r]
            if relaxed.low[r] < 0.0:
                lost = up(lost - relaxed.low[r])
        elif relaxed.high[r] > 0.0:
            # What flowed to predecessors that are left as well is a part of their surplus and counted there.
            part = 1.0
            for k in range(begin, end):
                if not selected[relaxed.predecessors[k]]:
                    part = 0.0 if end - begin == 1 else up(part - relaxed.share[k])
            if part > 0.0:
                lost = up(lost + up(part * relaxed.high[r]))
    # What is not spent loses its price.
    return up(lost + up(relaxed.price * (capacity - spent)))


@njit(cache=True, nogil=True)
def penalties(relaxed, capacity):
    """Least losses that follow from one decision, as in reduced-cost fixing for knapsacks (Ingargiola and Korsh 1973).

    Returns
    -------
    loss_out, loss_in : float64 [R], what every set without r, or with r, loses at least; ``loss_in`` is inf for what
        can never be taken, because it costs more than ``capacity`` with what comes before it.
    """
    n = relaxed.gain.size
    loss_out, loss_in, spent = np.empty(n), np.empty(n), np.empty(n)
    # What refinements of negative cost could make room for at most.
    room = capacity
    for r in range(n):
        room += max(-relaxed.cost[r], 0.0)
    for r in range(n):
        out, within, paid = max(relaxed.low[r], 0.0), 0.0, 0.0
        for k in range(relaxed.before[r], relaxed.before[r + 1]):
            p = relaxed.predecessors[k]
            out, within, paid = min(out, loss_out[p]), max(within, loss_in[p]), max(paid, spent[p])
        # Without r a set has all its predecessors, to which its surplus flowed for nothing, or lacks one of them. One
        # chain of what must come first costs no more than all of it.
        loss_out[r], spent[r] = out, paid + max(relaxed.cost[r], 0.0)
        # The deficit of r and those above it are different terms of one sum.
        loss_in[r] = down(within + max(-relaxed.high[r], 0.0)) if relaxed.high[r] < 0.0 else within
        if spent[r] > room:
            loss_in[r] = np.inf
    return loss_out, loss_in


@njit(cache=True, nogil=True)
def find_undecided(loss_out, loss_in, tolerance, taken):
    """Refinements [C], ascending, that a set which loses at most ``tolerance`` may take or leave.

    ``taken`` [R] becomes what every such set takes; the others are in none.
    """
    names, count = np.empty(taken.size, np.int32), 0
    for r in range(taken.size):
        taken[r] = loss_out[r] > tolerance
        if not taken[r] and loss_in[r] <= tolerance:
            names[count] = r
            count += 1
    return names[:count]
