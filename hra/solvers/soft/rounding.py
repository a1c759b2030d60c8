"""From probabilities to one cut within the budget."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit


@njit(cache=True)
def round_cuts(parent, cost, gain, order, first, capacity):
    """Take what ``first`` asks for, then whatever else leads to a gain, each in falling probability while it fits.

    Parameters
    ----------
    parent : int [R], -1 for roots, ``parent[r] < r``; cost : float64 [R], >= 0; gain : float64 [B, R].
    order : int [B, R], refinements in falling probability, predecessors first; first : bool [B, R], down-closed.
    capacity : float64 [B], >= 0.

    Returns
    -------
    selected : bool [B, R], down-closed and within the capacity. Nothing that leads to a gain could be added.
    """
    selected = np.zeros(gain.shape, np.bool_)
    for b in range(gain.shape[0]):
        left = _take(parent, cost, order[b], first[b], capacity[b], selected[b])
        _take(parent, cost, order[b], _leads_to_gain(parent, gain[b]), left, selected[b])
    return selected


@njit(cache=True)
def _take(parent, cost, order, wanted, left, selected):
    # One pass is enough: a predecessor comes first, and what did not fit once never will.
    for r in order:
        ready = parent[r] < 0 or selected[parent[r]]
        if wanted[r] and ready and not selected[r] and cost[r] <= left:
            selected[r] = True
            left -= cost[r]
    return left


@njit(cache=True)
def _leads_to_gain(parent, gain):
    """Whether a refinement or one that needs it gains anything."""
    useful = gain > 0.0
    # Backwards, everything beneath r has reported before r does.
    for r in range(parent.size - 1, 0, -1):
        if useful[r] and parent[r] >= 0:
            useful[parent[r]] = True
    return useful
