"""The best sets of all copies at one price, and the bound that it proves; see `hra.solvers.dag.split_flow`.

Copies of a kind share the order of refinements, so that each step is taken for many of them at once: the innermost
loops run over copies and are vectorised.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit

# Copies at a time: what is known of them stays in the cache.
_LANES = 64


@njit(cache=True, error_model="numpy")
def sets_at_price(rows, gain, price, share, selected, surplus):
    """Fill ``selected`` with the sets at a price; returns their cost, and a bound on what all could be worth.

    Every refinement in surplus hands it to its predecessors. Sets at falling prices are nested, because a lower price
    leaves every refinement with more.

    Parameters
    ----------
    rows : `hra.solvers.copies.copies.Rows`.
    gain : float64, ``selected`` : bool, of all lanes.
    share : float64 [E], the parts of a refinement's surplus that go to its predecessors; they add up to 1.
    surplus : float64, of all lanes: filled with what each refinement has at the price; or empty.
    """
    spent, bound = 0.0, 0.0
    for kind in range(rows.first.size - 1):
        begin, end = rows.first[kind], rows.first[kind + 1]
        count = rows.at[end] - rows.at[begin]
        count = count // (end - begin) if end > begin else 0
        left = np.empty((end - begin, _LANES))
        for lane in range(0, count, _LANES):
            width = min(_LANES, count - lane)
            bound += pass_on(rows, begin, end, gain, price, share, lane, width, left)
            spent += _take(rows, begin, end, lane, width, left, selected)
            if surplus.size > 0:
                for q in range(begin, end):
                    _copy(left[q - begin], surplus[rows.at[q] + lane : rows.at[q] + lane + width])
    return spent, bound


# Numba checks each index for being negative unless it is a loop's own: lanes are cut out first, else nothing below
# would be vectorised.


@njit(cache=True, error_model="numpy")
def pass_on(rows, begin, end, gain, price, share, lane, width, left):
    """Fill ``left`` [R, lanes] with the surplus of each refinement, from fine to coarse; returns what is on top."""
    for q in range(begin, end):
        at = rows.at[q] + lane
        _worth(gain[at : at + width], price * rows.cost[q], left[q - begin])
    top = 0.0
    for q in range(end - 1, begin - 1, -1):
        own = left[q - begin, :width]
        if rows.before[q] == rows.before[q + 1]:
            for i in range(own.size):
                top += own[i] if own[i] > 0.0 else 0.0
        for k in range(rows.before[q], rows.before[q + 1]):
            _hand_over(own, share[k], left[rows.needed[k] - begin])
    return top


@njit(cache=True, error_model="numpy")
def _take(rows, begin, end, lane, width, left, selected):
    """Select what is in surplus and has all its predecessors; returns the cost."""
    spent = 0.0
    for q in range(begin, end):
        at = rows.at[q] + lane
        own = selected[at : at + width]
        _select(left[q - begin], own)
        for k in range(rows.before[q], rows.before[q + 1]):
            at = rows.at[rows.needed[k]] + lane
            _restrict(own, selected[at : at + width])
        spent += rows.cost[q] * _count(own)
    return spent


@njit(cache=True, error_model="numpy")
def _worth(gain, paid, result):
    for i in range(gain.size):
        result[i] = gain[i] - paid


@njit(cache=True, error_model="numpy")
def _hand_over(own, part, other):
    for i in range(own.size):
        other[i] += part * (own[i] if own[i] > 0.0 else 0.0)


@njit(cache=True, error_model="numpy")
def _select(surplus, result):
    for i in range(result.size):
        result[i] = surplus[i] > 0.0


@njit(cache=True, error_model="numpy")
def _restrict(own, other):
    for i in range(own.size):
        own[i] &= other[i]


@njit(cache=True, error_model="numpy")
def _count(own):
    count = 0
    for i in range(own.size):
        count += own[i]
    return count


@njit(cache=True, error_model="numpy")
def _copy(values, result):
    for i in range(result.size):
        result[i] = values[i]
