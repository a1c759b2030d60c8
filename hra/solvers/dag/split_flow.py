"""Upper bound and good sets on a DAG: surplus flows from fine to coarse, split over the predecessors.

At a price every refinement is worth gain - price * cost. A refinement in surplus hands all of it to its
predecessors, in shares that add up to one; what arrives at refinements without predecessors is an upper bound on the
relaxation *for any shares* (they are a feasible dual of the max-closure problem: Picard 1976). Shares are improved by
exponentiated-gradient steps that send surplus to where a deficit absorbs it; at the optimum the bound equals the
maximum closure and the refinements in surplus are that closure.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit

# A relative distance between bound and set below which more sweeps do not pay.
_CLOSED = 1e-7


@njit(cache=True)
def surplus_bound(order, gain, cost, price, share, surplus):
    """Push surplus from fine to coarse; return the upper bound on max gain - price * cost. Fills ``surplus`` [R]."""
    offsets, predecessors = order
    total = 0.0
    for r in range(gain.size):
        surplus[r] = gain[r] - price * cost[r]
    # Predecessors have smaller numbers: backwards, r has received everything before it passes anything on.
    for r in range(gain.size - 1, -1, -1):
        if surplus[r] > 0.0:
            # At the top nothing is left to pass it on to: this is what the dual adds up.
            if offsets[r] == offsets[r + 1]:
                total += surplus[r]
            for k in range(offsets[r], offsets[r + 1]):
                surplus[predecessors[k]] += share[k] * surplus[r]
    return total


@njit(cache=True)
def _collect(order, gain, cost, price, surplus, share, step, sensitivity, selected):
    """Select the refinements in surplus all of whose predecessors are; return what they are worth at ``price``.

    On the way each refinement's shares make one exponentiated-gradient step away from predecessors whose extra surplus
    would reach the top; ``sensitivity`` [R] is the part that would.
    """
    offsets, predecessors = order
    worth = 0.0
    for r in range(surplus.size):
        low, high = offsets[r], offsets[r + 1]
        taken, part = surplus[r] > 0.0, 0.0
        if taken:
            # The bound is piecewise linear: its slope by the surplus of r is that of its predecessors, weighted by
            # shares, 1 at the top and 0 in a deficit, which absorbs it.
            part, least, most = 1.0 if low == high else 0.0, np.inf, -np.inf
            for k in range(low, high):
                one = sensitivity[predecessors[k]]
                part += share[k] * one
                least, most = min(least, one), max(most, one)
                taken = taken and selected[predecessors[k]]
            if least < most:  # where all are alike, no split is better
                _shift(predecessors[low:high], share[low:high], sensitivity, step)
        sensitivity[r], selected[r] = part, taken
        if taken:
            worth += gain[r] - price * cost[r]
    return worth


@njit(inline="always")
def _shift(predecessors, share, sensitivity, step):
    """One exponentiated-gradient step of the shares of one refinement."""
    # The slope by one share is the surplus of r, which is common to all and left out, times the sensitivity of the
    # predecessor.
    total = 0.0
    for k in range(share.size):
        # The floor lets a share that was driven to zero come back.
        share[k] = (share[k] + 1e-4) * np.exp(-step * sensitivity[predecessors[k]])
        total += share[k]
    for k in range(share.size):
        share[k] /= total


@njit(cache=True)
def even_shares(offsets):
    """Shares [E] that split every refinement's surplus evenly over its predecessors."""
    share = np.empty(offsets[-1])
    for r in range(offsets.size - 1):
        for k in range(offsets[r], offsets[r + 1]):
            share[k] = 1.0 / (offsets[r + 1] - offsets[r])
    return share


@njit(cache=True)
def closure(order, gain, cost, price, share, sweeps, selected):
    """Best bound and best set at one ``price`` within ``sweeps``; ``share`` [E] is improved in place.

    Returns the bound on max gain - price * cost; ``selected`` [R] holds the best set found.
    """
    return better_set(order, gain, cost, price, share, sweeps, -np.inf, 0.0, selected)[0]


@njit(cache=True)
def better_set(order, gain, cost, price, share, sweeps, known, tolerance, selected):
    """`closure` that stops early: with a set halfway from a ``known`` worth to the bound, or a bound that is near it.

    Returns the bound, which is near ``known`` if it exceeds it by at most ``tolerance``, and the sweeps made.
    """
    n = gain.size
    surplus, sensitivity, trial = np.empty(n), np.empty(n), np.empty(n, np.bool_)
    bound, best, made = np.inf, -np.inf, 0
    while made < sweeps:
        bound = min(bound, surplus_bound(order, gain, cost, price, share, surplus))
        step = 2.0 / (1.0 + 0.1 * made)
        worth = _collect(order, gain, cost, price, surplus, share, step, sensitivity, trial)
        made += 1
        if worth > best:
            best = worth
            for r in range(n):
                selected[r] = trial[r]
        # best <= optimum <= bound: enough is a set halfway between, a bound that ends all hope, or that both agree.
        if best - known > 0.5 * (bound - known) or bound - known <= tolerance or bound - best <= _CLOSED * bound:
            break
    return bound, made
