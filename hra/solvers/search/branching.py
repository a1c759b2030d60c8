"""Exact search on a DAG: depth-first branching, cut off by what the decisions lose against the relaxation."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.model.sets import total
from hra.solvers.search.penalties import loss_of


@njit(inline="always")
def _loss(relaxed, taken, r):
    """What taking or leaving r loses; inf if it is taken without a predecessor."""
    part = 1.0 if relaxed.before[r] == relaxed.before[r + 1] else 0.0
    for k in range(relaxed.before[r], relaxed.before[r + 1]):
        if taken[relaxed.predecessors[k]]:
            part += relaxed.share[k]
        elif taken[r]:
            return np.inf
    return max(-relaxed.high[r], 0.0) if taken[r] else max(relaxed.low[r], 0.0) * part


@njit(cache=True, nogil=True)
def branch(relaxed, names, capacity, tolerance, margin, limit, taken):
    """Best way to decide the refinements ``names`` among sets within ``capacity`` that lose at most ``tolerance``.

    Refinements are decided from coarse to fine, first as the relaxation would. No bound is recomputed on the way: each
    decision adds what it loses (see `penalties`), which takes as long as reading its predecessors.

    Parameters
    ----------
    relaxed : `Relaxed`.
    names : int32 [C], ascending.
    capacity : for what is taken already, too.
    margin : rounding of as many losses.
    limit : decisions after which the search stops.
    taken : bool [R], what is decided already; the best set of ``names`` is added.

    Returns
    -------
    finished : whether nothing better exists. Without any such set, ``taken`` stays as it is.
    """
    n, left = names.size, capacity - total(relaxed.cost, taken)
    loss, spent, gain = np.zeros(n + 1), np.zeros(n + 1), np.zeros(n + 1)
    # What is still to be decided may cost so much, and may make so much room.
    spendable, room = np.zeros(n + 1), np.zeros(n + 1)
    for i in range(n - 1, -1, -1):
        spendable[i] = spendable[i + 1] + max(relaxed.cost[names[i]], 0.0)
        room[i] = room[i + 1] + max(-relaxed.cost[names[i]], 0.0)
    best, best_gain = np.zeros(n, np.bool_), -np.inf
    tried, i, decisions = np.zeros(n + 1, np.int8), 0 if left + room[0] >= 0.0 else -1, 0
    while i >= 0 and decisions <= limit:
        if i == n:
            if gain[n] > best_gain:
                best_gain = gain[n]
                for k in range(n):
                    best[k] = taken[names[k]]
                # What gains more loses less than this.
                tolerance = min(tolerance, loss_of(relaxed, capacity, taken))
            i -= 1
            continue
        r = names[i]
        if tried[i] == 2:
            tried[i], taken[r] = 0, False
            i -= 1
            continue
        # As the relaxation would, first: to take a surplus or leave a deficit loses nothing by itself.
        taken[r] = (relaxed.high[r] > 0.0) == (tried[i] == 0)
        tried[i] += 1
        decisions += 1
        loss[i + 1] = loss[i] + _loss(relaxed, taken, r)
        spent[i + 1] = spent[i] + relaxed.cost[r] * taken[r]
        gain[i + 1] = gain[i] + relaxed.gain[r] * taken[r]
        # So much of the capacity stays unused whatever follows, and loses its price.
        unused = max(left - spent[i + 1] - spendable[i + 1], 0.0)
        fits = spent[i + 1] <= left + room[i + 1]
        if fits and loss[i + 1] + relaxed.price * unused <= tolerance + margin:
            i += 1
    for k in range(n):
        taken[names[k]] = best[k]
    return i < 0
