"""What it costs to go against the relaxation: the key to deciding most refinements before an exact search.

At a price lambda let every refinement pass its surplus on to its predecessors (see `split_flow`). A down-closed set
then falls short of the bound by exactly what it loses: a deficit that it takes, a surplus that it leaves (that part of
it whose predecessors it takes), and lambda times unused capacity.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit


class Relaxed(NamedTuple):
    """A relaxation at one price.

    before, predecessors : offsets [R + 1] and indices [E] of the partial order, from coarse to fine.
    share : float64 [E], how refinements split their surplus over their predecessors.
    surplus, gain, cost : float64 [R]; price : lambda, gain per cost unit.
    """

    before: np.ndarray
    predecessors: np.ndarray
    share: np.ndarray
    surplus: np.ndarray
    gain: np.ndarray
    cost: np.ndarray
    price: float


@njit(cache=True, nogil=True)
def penalties(relaxed, capacity):
    """Least losses that follow from one decision, as in reduced-cost fixing for knapsacks (Ingargiola and Korsh 1973).

    Returns
    -------
    loss_out, loss_in : float64 [R], what every set without r, or with r, loses at least; ``loss_in`` is inf for what
        can never be taken, because it costs more than ``capacity`` with what comes before it.
    """
    n = relaxed.surplus.size
    loss_out, loss_in, spent = np.empty(n), np.empty(n), np.empty(n)
    for r in range(n):
        surplus = relaxed.surplus[r]
        out, within, paid = max(surplus, 0.0), 0.0, 0.0
        for k in range(relaxed.before[r], relaxed.before[r + 1]):
            p = relaxed.predecessors[k]
            out, within, paid = min(out, loss_out[p]), max(within, loss_in[p]), max(paid, spent[p])
        loss_out[r], loss_in[r], spent[r] = out, within + max(-surplus, 0.0), paid + relaxed.cost[r]
        if spent[r] > capacity:
            loss_in[r] = np.inf
    return loss_out, loss_in


@njit(cache=True, nogil=True)
def undecided(loss_out, loss_in, tolerance, taken):
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
