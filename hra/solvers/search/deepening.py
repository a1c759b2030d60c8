"""From a good set to the best one: exact searches within a growing distance of the relaxation's bound.

On a DAG the search branches depth first, cut off by what the decisions lose against the relaxation.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.model.precise import precise_difference, up
from hra.model.sets import total
from hra.solvers.duals import distance
from hra.solvers.search.pareto import search
from hra.solvers.search.penalties import find_undecided, loss_of, penalties, relax

# The first search goes a small part of the way, each next one further by a factor. The more refinements there are to
# choose from, the closer the optimum is to the bound; a failed search is cheap compared with going too far at once.
_FEWEST_PARTS, _REFINEMENTS_PER_PART, _GROWTH = 64.0, 16.0, 4.0
# A loss, relative to all that is left to gain, that no search need remove.
_NEGLIGIBLE = 1e-13
# Prices beyond this may overflow with costs.
_LARGEST = 1e306


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


@njit(cache=True, nogil=True)
def improve(order, share, gain, cost, capacity, price, limit, states, selected):
    """Replace ``selected`` by a better set, if possible by the best.

    Sets that lose at most some tolerance against the bound have no choice at most refinements; the others are searched.
    The best of these sets is optimal if it loses no more than that; if not, all sets lose more: the tolerance grows.

    Parameters
    ----------
    order : offsets [R + 1] and predecessors [E] of the partial order.
    share : float64 [E], splits the surplus of each refinement over its predecessors. Any shares that add up to at most
        one are valid, and so is any price; good ones leave little to search.
    gain, cost : float64 [R]; capacity, price : float.
    limit : decisions that a search on a graph may take.
    states : memory of the search on a forest, None on graphs: what is not called is then not compiled either.
    selected : bool [R], down-closed and within the capacity.

    Returns
    -------
    shortfall : no set gains more than so much more, in exact arithmetic; proven : whether the search came to its end.
    """
    before, predecessors = order
    # The hull point is often the best set: then nothing but its exact distance is needed.
    tight = distance(before, predecessors, gain, cost, price, share, selected, capacity, np.empty(predecessors.size))
    if tight <= _NEGLIGIBLE * total(gain, ~selected):
        return tight, True
    # Where nothing that costs something fits, the price is infinite, and where it overflows with the costs, losses are
    # no numbers: no price is as valid.
    price = price if tight < np.inf and price < _LARGEST else 0.0
    relaxed = relax(before, predecessors, share, gain, cost, price)
    # On forests the bound of the relaxation is the least that this price proves, on graphs shares may round.
    lost = loss_of(relaxed, capacity, selected)
    lost = lost if states is None else min(lost, tight)
    trial, ruled_out = np.empty(gain.size, np.bool_), 0.0
    loss_out, loss_in = penalties(relaxed, capacity)
    tolerance = lost / max(_FEWEST_PARTS, gain.size / _REFINEMENTS_PER_PART)
    while True:
        # Where the loss is too small to be divided, or infinite, one search has to do.
        tolerance = tolerance if 0.0 < tolerance < np.inf else lost
        names = find_undecided(loss_out, loss_in, tolerance, trial)
        margin, unclear = _rounding(relaxed, names)
        if states is None:
            finished = branch(relaxed, names, capacity, tolerance, margin, limit, trial)
        else:
            left = capacity - total(cost, trial)
            finished = _search(relaxed, loss_in, names, left, tolerance + margin, states, trial)
        if total(cost, trial) <= capacity and precise_difference(gain, trial, selected) > 0.0:
            for r in range(trial.size):
                selected[r] = trial[r]
            lost = loss_of(relaxed, capacity, selected)
        if not finished:
            return max(up(lost - ruled_out), unclear), False
        # Every set that loses as little was in the search: nothing is better than the best of them.
        if lost <= tolerance:
            return unclear, True
        ruled_out, tolerance = tolerance, min(_GROWTH * tolerance, lost)


@njit(cache=True, nogil=True)
def _rounding(relaxed, names):
    """What sums of losses of ``names`` [C] may be off by, and what sums of their gains may be off by.

    The latter is 0 for whole numbers below 2**53.
    """
    gained, paid, whole = 0.0, 0.0, True
    for r in names:
        gained += relaxed.gain[r]
        paid += relaxed.price * abs(relaxed.cost[r])
        whole = whole and relaxed.gain[r] == np.floor(relaxed.gain[r])
    unit = (names.size + 4.0) * 2.0**-52
    margin = 8.0 * unit * (gained + paid) + 1e-320
    return margin, 0.0 if whole and gained < 2.0**53 else 2.0 * unit * gained + 1e-320


@njit(cache=True, nogil=True)
def _search(relaxed, loss_in, names, capacity, tolerance, states, trial):
    """`search` among the refinements ``names`` [C] of a forest; takes the best of them in ``trial`` [R].

    Returns whether it came to its end; without any set within the tolerance, ``trial`` stays as it is.
    """
    number = np.empty(trial.size, np.int32)
    parent, loss_above = np.full(names.size, -1, np.int32), np.zeros(names.size)
    for i in range(names.size):
        r = names[i]
        number[r] = i
        if relaxed.before[r] < relaxed.before[r + 1]:
            p = relaxed.predecessors[relaxed.before[r]]
            loss_above[i] = loss_in[p]
            parent[i] = -1 if trial[p] else number[p]
    taken = np.zeros(names.size, np.bool_)
    gain, cost = relaxed.gain[names], relaxed.cost[names]
    _, finished = search(parent, gain, cost, loss_above, relaxed.price, capacity, tolerance, states, taken)
    for i in range(names.size):
        trial[names[i]] = taken[i]
    return finished
