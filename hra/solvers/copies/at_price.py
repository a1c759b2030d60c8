"""The best sets of all copies at one price, and the bound that it proves; see `hra.solvers.dag.split_flow`.

Copies of a kind share the order of refinements, so that each step is taken for a block of them at once: the innermost
loops run over copies and are vectorised.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.solvers.copies.blocks import LANES, count_of, shares_of
from hra.solvers.copies.taking import best_sets


@njit(cache=True, error_model="numpy")
def sets_at_price(rows, gain, price, share, reach, selected, surplus):
    """Fill ``selected`` with sets that are good at a price; returns their cost, and a bound on what all could be worth.

    Every refinement in surplus hands it to its predecessors.

    Parameters
    ----------
    rows : `hra.solvers.copies.copies.Rows`.
    gain : float64, ``selected`` : bool, of all lanes.
    share : `hra.solvers.copies.blocks.Shares`.
    reach : int64 [blocks], how many rows of each block are looked at: none beyond is in surplus. Lowered to what is.
    surplus : float64, of all lanes: filled with what each refinement has at the price; or empty.
    """
    spent, bound = 0.0, 0.0
    for kind in range(rows.first.size - 1):
        begin, end = rows.first[kind], rows.first[kind + 1]
        count, left, alive = count_of(rows, kind), np.empty((end - begin, LANES)), np.empty(end - begin, np.bool_)
        for lane in range(0, count, LANES):
            width, block = min(LANES, count - lane), share.first[kind] + lane // LANES
            stop, own = begin + reach[block], shares_of(rows, share, kind, block)
            bound += pass_on(rows, begin, stop, gain, price, own, lane, left, alive)
            if surplus.size > 0:
                for q in range(begin, end):
                    at = rows.at[q] + lane
                    if q < stop:
                        _copy(left[q - begin], surplus[at : at + width])
                    else:
                        _worth(gain[at : at + width], price * rows.cost[q], surplus[at : at + width])
            while stop > begin and not alive[stop - 1 - begin]:
                stop -= 1
            best_sets(rows, begin, stop, end, gain, price, lane, width, left, alive, selected)
            spent += _spent(rows, begin, stop, lane, width, selected)
            reach[block] = stop - begin
    return spent, bound


# Numba checks each index for being negative unless it is a loop's own: lanes are cut out first, else nothing below
# would be vectorised.


@njit(cache=True, error_model="numpy")
def pass_on(rows, begin, stop, gain, price, share, lane, left, alive):
    """Fill ``left`` [R, lanes] with the surplus of each refinement, from fine to coarse; returns what is on top.

    Parameters
    ----------
    begin, stop : the rows to look at.
    share : float64 [E, 1] or [E, lanes], of one block of copies, which begins at ``lane``.
    alive : bool [R], filled: whether any copy of the block has a surplus there.
    """
    top, edges, width = 0.0, rows.before[begin], min(LANES, rows.at[begin + 1] - rows.at[begin] - lane)
    plenty = np.empty(width)
    for q in range(begin, stop):
        at = rows.at[q] + lane
        _worth(gain[at : at + width], price * rows.cost[q], left[q - begin])
    for q in range(stop - 1, begin - 1, -1):
        alive[q - begin] = _clamp(left[q - begin, :width], plenty) > 0
        if not alive[q - begin]:
            continue
        if rows.before[q] == rows.before[q + 1]:
            for i in range(width):
                top += plenty[i]
        for k in range(rows.before[q], rows.before[q + 1]):
            _hand_over(plenty, share[k - edges], left[rows.needed[k] - begin])
    return top


@njit(cache=True, error_model="numpy")
def _spent(rows, begin, stop, lane, width, selected):
    spent = 0.0
    for q in range(begin, stop):
        spent += rows.cost[q] * _count(selected[rows.at[q] + lane : rows.at[q] + lane + width])
    return spent


@njit(cache=True, error_model="numpy")
def _worth(gain, paid, result):
    for i in range(gain.size):
        result[i] = gain[i] - paid


@njit(cache=True, error_model="numpy")
def _clamp(own, result):
    """Fill ``result`` with what of ``own`` is above 0; returns how many are."""
    count = 0
    for i in range(own.size):
        result[i] = own[i] if own[i] > 0.0 else 0.0
        count += own[i] > 0.0
    return count


@njit(cache=True, error_model="numpy")
def _hand_over(own, share, other):
    if share.size == 1:
        part = share[0]
        for i in range(own.size):
            other[i] += part * own[i]
    else:
        for i in range(own.size):
            other[i] += share[i] * own[i]


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
