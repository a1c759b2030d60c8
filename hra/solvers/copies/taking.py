"""Sets of a block of copies from what each refinement has left."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit

# Parts of its cost that a refinement may lack.
_LACKS = np.array([0.0, 0.4])


@njit(cache=True, error_model="numpy")
def best_sets(rows, begin, stop, end, gain, price, lane, width, left, alive, selected):
    """Fill ``selected`` with the best of several sets for each copy of a block.

    What is in surplus stops at each refinement that lacks a little, and what lies beneath is lost. So some more are
    taken that lack up to a part of what they cost, if they lead to a surplus.

    Parameters
    ----------
    begin, stop, end : the rows of the kind, of which those from ``stop`` on are not taken.
    left, alive : see `pass_on`.
    """
    trial, best, worth = np.empty((stop - begin, width), np.bool_), np.empty(width), np.empty(width)
    is_better = np.empty(width, np.bool_)
    for q in range(stop, end):
        selected[rows.at[q] + lane : rows.at[q] + lane + width] = False
    for n in range(_LACKS.size):
        _take(rows, begin, stop, price, _LACKS[n], left, alive, trial)
        if n > 0:
            _trim(rows, begin, stop, left, alive, trial)
        worth[:] = 0.0
        for q in range(begin, stop):
            if alive[q - begin]:
                _add(gain[rows.at[q] + lane : rows.at[q] + lane + width], price * rows.cost[q], trial[q - begin], worth)
        for i in range(width):
            is_better[i] = n == 0 or worth[i] > best[i]
            best[i] = worth[i] if is_better[i] else best[i]
        for q in range(begin, stop):
            _put(is_better, trial[q - begin], selected[rows.at[q] + lane : rows.at[q] + lane + width])


@njit(cache=True, error_model="numpy")
def _take(rows, begin, stop, price, lack, left, alive, trial):
    """Select what _LACKS no more than a part of its cost, and has all its predecessors."""
    for q in range(begin, stop):
        own = trial[q - begin]
        if not alive[q - begin]:
            own[:] = False
            continue
        _select(left[q - begin], -lack * price * rows.cost[q], own)
        for k in range(rows.before[q], rows.before[q + 1]):
            _restrict(own, trial[rows.needed[k] - begin])


@njit(cache=True, error_model="numpy")
def _trim(rows, begin, stop, left, alive, trial):
    """Leave out what has no surplus and leads to none."""
    led = np.empty(trial.shape[1], np.bool_)
    for q in range(stop - 1, begin - 1, -1):
        if not alive[q - begin]:
            continue
        _select(left[q - begin], 0.0, led)
        for k in range(rows.after[q], rows.after[q + 1]):
            if rows.opened[k] < stop and alive[rows.opened[k] - begin]:
                _unite(led, trial[rows.opened[k] - begin])
        _restrict(trial[q - begin], led)


@njit(cache=True, error_model="numpy")
def _select(surplus, least, result):
    for i in range(result.size):
        result[i] = surplus[i] > least


@njit(cache=True, error_model="numpy")
def _restrict(own, other):
    for i in range(own.size):
        own[i] &= other[i]


@njit(cache=True, error_model="numpy")
def _unite(own, other):
    for i in range(own.size):
        own[i] |= other[i]


@njit(cache=True, error_model="numpy")
def _add(gain, paid, taken, worth):
    for i in range(worth.size):
        worth[i] += gain[i] - paid if taken[i] else 0.0


@njit(cache=True, error_model="numpy")
def _put(where, trial, selected):
    for i in range(where.size):
        selected[i] = trial[i] if where[i] else selected[i]
