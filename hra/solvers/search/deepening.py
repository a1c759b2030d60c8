"""From a good set to the best one: exact searches within a growing distance of the relaxation's bound."""

from __future__ import annotations

import numpy as np
from numba import njit

from hra.model.sets import total
from hra.solvers.dag.split_flow import surplus_bound
from hra.solvers.search.branching import branch
from hra.solvers.search.pareto import search
from hra.solvers.search.penalties import Relaxed, penalties, undecided

# Rounding margin relative to the bound: thousands of times the rounding of one addition.
_MARGIN = 1e-12
# The first search goes a small part of the way, each next one further by a factor. The more refinements there are to
# choose from, the closer the optimum is to the bound; searching in vain is cheap compared with going too far at once.
_FEWEST_PARTS, _REFINEMENTS_PER_PART, _GROWTH = 64.0, 16.0, 4.0


@njit(cache=True, nogil=True)
def improve(before, predecessors, share, is_forest, gain, cost, capacity, price, states, selected):
    """Replace ``selected`` by a better set, if possible by the best.

    Sets that lose at most some tolerance against the bound have no choice at most refinements; the others are searched.
    The best of these sets is optimal if there is one; if not, the bound falls by the tolerance, which then grows.

    Parameters
    ----------
    before, predecessors : offsets [R + 1] and indices [E] of the partial order.
    share : float64 [E], splits the surplus of each refinement over its predecessors. Any shares that add up to one are
        valid, and so is any price; good ones leave little to search.
    gain, cost : float64 [R]; capacity, price : float.
    states : memory on forests, and the number of states that a search may visit.
    selected : bool [R], down-closed and within the capacity.

    Returns
    -------
    bound : no set gains more; proven : whether ``selected`` is optimal up to rounding.
    """
    surplus, trial = np.empty(gain.size), np.empty(gain.size, np.bool_)
    bound = surplus_bound(before, predecessors, gain, cost, price, share, surplus) + price * capacity
    found, margin = total(gain, selected), _MARGIN * bound
    if bound - found <= margin:
        return bound, True
    relaxed = Relaxed(before, predecessors, share, surplus, gain, cost, price)
    loss_out, loss_in = penalties(relaxed, capacity)
    top, tolerance = bound, (bound - found) / max(_FEWEST_PARTS, gain.size / _REFINEMENTS_PER_PART)
    while True:
        names = undecided(loss_out, loss_in, tolerance + margin, trial)
        left, sure = capacity - total(cost, trial), total(gain, trial)
        if is_forest:
            best, finished = _search(relaxed, loss_in, names, left, tolerance + margin, states, trial)
        else:
            best, finished = branch(relaxed, names, left, bound - sure, tolerance + margin, states.cost.size, trial)
        if sure + best > found:
            found = sure + best
            selected[:] = trial
        if not finished:
            return max(top, found), False
        top = max(bound - tolerance, found)
        if bound - found <= tolerance:
            return top, True
        tolerance = min(_GROWTH * tolerance, bound - found)


@njit(cache=True, nogil=True)
def _search(relaxed, loss_in, names, capacity, tolerance, states, trial):
    """`search` among the refinements ``names`` [C] of a forest; takes the best of them in ``trial`` [R]."""
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
    best, finished = search(parent, gain, cost, loss_above, relaxed.price, capacity, tolerance, states, taken)
    trial[names] = taken
    return best, finished
