"""Upper bound and good sets on a DAG: surplus flows from fine to coarse, split over the predecessors.

At a price lambda every refinement is worth gain - lambda * cost. A refinement in surplus hands all of it to its
predecessors, in shares that add up to one; what arrives at refinements without predecessors is an upper bound on the
relaxation *for any shares* (they are a feasible dual of the max-closure problem: Picard 1976). Shares are improved by
exponentiated-gradient steps that send surplus to where a deficit absorbs it; at the optimum the bound equals the
maximum closure and the refinements in surplus are that closure.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# A relative distance between bound and set below which more sweeps do not pay.
_CLOSED = 1e-7


@njit(cache=True)
def surplus_bound(offsets, predecessors, gain, cost, price, share, surplus):
    """Push surplus from fine to coarse; return the upper bound on max gain - price * cost. Fills ``surplus`` [R]."""
    total = 0.0
    for r in range(gain.size):
        surplus[r] = gain[r] - price * cost[r]
    for r in range(gain.size - 1, -1, -1):
        if surplus[r] > 0.0:
            if offsets[r] == offsets[r + 1]:
                total += surplus[r]
            for k in range(offsets[r], offsets[r + 1]):
                surplus[predecessors[k]] += share[k] * surplus[r]
    return total


@njit(cache=True)
def _closed_set(offsets, predecessors, surplus, selected):
    """Refinements in surplus all of whose predecessors are."""
    for r in range(surplus.size):
        taken = surplus[r] > 0.0
        for k in range(offsets[r], offsets[r + 1]):
            taken = taken and selected[predecessors[k]]
        selected[r] = taken


@njit(cache=True)
def _shift_shares(offsets, predecessors, surplus, share, sensitivity, step):
    """One exponentiated-gradient step away from predecessors whose extra surplus would reach the top."""
    for r in range(surplus.size):
        low, high = offsets[r], offsets[r + 1]
        sensitivity[r] = 0.0
        if surplus[r] <= 0.0:
            continue
        if low == high:
            sensitivity[r] = 1.0
        for k in range(low, high):
            sensitivity[r] += share[k] * sensitivity[predecessors[k]]
        if high - low > 1:
            total = 0.0
            for k in range(low, high):
                # The floor lets a share that was driven to zero come back.
                share[k] = (share[k] + 1e-4) * np.exp(-step * sensitivity[predecessors[k]])
                total += share[k]
            for k in range(low, high):
                share[k] /= total


@njit(cache=True)
def _value(gain, cost, selected):
    total_gain, total_cost = 0.0, 0.0
    for r in range(gain.size):
        if selected[r]:
            total_gain += gain[r]
            total_cost += cost[r]
    return total_gain, total_cost


@njit(cache=True)
def even_shares(offsets):
    """Shares [E] that split every refinement's surplus evenly over its predecessors."""
    share = np.empty(offsets[-1])
    for r in range(offsets.size - 1):
        for k in range(offsets[r], offsets[r + 1]):
            share[k] = 1.0 / (offsets[r + 1] - offsets[r])
    return share


@njit(cache=True)
def closure(offsets, predecessors, gain, cost, price, share, sweeps, selected):
    """Best bound and best set at one ``price`` within ``sweeps``; ``share`` [E] is improved in place.

    Returns the bound on max gain - price * cost; ``selected`` [R] holds the best set found.
    """
    n = gain.size
    surplus, sensitivity, trial = np.empty(n), np.empty(n), np.empty(n, np.bool_)
    bound, best = np.inf, -np.inf
    for sweep in range(sweeps):
        bound = min(bound, surplus_bound(offsets, predecessors, gain, cost, price, share, surplus))
        _closed_set(offsets, predecessors, surplus, trial)
        total_gain, total_cost = _value(gain, cost, trial)
        if total_gain - price * total_cost > best:
            best = total_gain - price * total_cost
            selected[:] = trial
        if bound - best <= _CLOSED * bound:
            break
        _shift_shares(offsets, predecessors, surplus, share, sensitivity, 2.0 / (1.0 + 0.1 * sweep))
    return bound


@njit(cache=True)
def relax(offsets, predecessors, gain, cost, capacity, low, high, prices, sweeps, selected):
    """Bisect the price between ``low`` and ``high``; return the price and the upper bound on the gain.

    ``selected`` [R] becomes the set of most gain that fits ``capacity`` among those met on the way.
    """
    share = even_shares(offsets)
    trial = np.empty(gain.size, np.bool_)
    bound, best, price = np.inf, -1.0, high
    for step in range(prices):
        # The highest price first: it yields what is free, and a set for every capacity.
        price = high if step == 0 else np.sqrt(low * high)
        bound = min(bound, closure(offsets, predecessors, gain, cost, price, share, sweeps, trial) + price * capacity)
        total_gain, total_cost = _value(gain, cost, trial)
        if total_cost <= capacity:
            high = price
            if total_gain > best:
                best = total_gain
                selected[:] = trial
        else:
            low = price
        if high <= low * (1.0 + 1e-6):
            break
    return price, bound
