"""The upper bound of a pool whose members have limits.

A choice takes the set S_i, of gain g_i and cost c_i beyond the base, for each member i. Limits allow it if c_i <= h_i
and sum of max(c_i, l_i) <= C: what is reserved for a member is lost to the others. For every price >= 0 of the
pool and every price p_i >= 0 of a member,

    -price max(c_i, l_i) <= -p_i c_i - (price - p_i) l_i     if p_i <= price  (a maximum is at least any mean)
    -price max(c_i, l_i) <= -p_i c_i + (p_i - price) h_i     if p_i >= price  (because c_i <= h_i)

so that, with R_i(p) >= max over all S_i of g_i - p c_i (the member's own relaxation),

    sum g_i <= price C + sum of R_i(p_i) - max(price - p_i, 0) l_i + max(p_i - price, 0) h_i.

Any prices give a valid bound. Members that no limit holds have p_i = price; with the prices at which the others meet
their limits, the bound is the least of this form wherever the members' relaxations are exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from hra.model.problem import Problem
from hra.model.units import rescale
from hra.solvers.dag.split_flow import closure, even_shares
from hra.solvers.duals import distance

# On DAGs: sweeps at each price, as many as the relaxation makes.
_SWEEPS = 60


def dual_bound(
    problems: Sequence[Problem],
    low: Sequence[Fraction],
    high: Sequence[Fraction],
    capacity: Fraction,
    own: np.ndarray,
    price: float,
) -> float:
    """The most that any choice within the limits can gain.

    Parameters
    ----------
    low, high : limits on what each member costs beyond its base, [M], in cost units.
    capacity : what all may cost beyond their bases, in cost units.
    own : float64 [M], a price per member and cost unit, >= 0; ``price`` for members that no limit holds.
    price : of the pool, >= 0.

    Returns
    -------
    The bound, never rounded down: prices and limits count as they are, and their products are exact.
    """
    shared, most = Fraction(price), Fraction(price) * capacity
    for i, problem in enumerate(problems):
        parts = [_part(problem, at, shared, low[i], high[i]) for at in {price, float(own[i])}]
        most += min(parts)
    nearest = float(most)
    return nearest if Fraction(nearest) >= most else math.nextafter(nearest, math.inf)


def _part(problem: Problem, price: float, shared: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """What a member adds to the bound at a price of its own."""
    size = problem.hierarchy.units.size
    # The relaxation is computed at a double: this one counts, exactly, in place of what was asked for. Any price is
    # valid.
    per_unit = rescale(price, Fraction(1), size)
    own = Fraction(per_unit) / size
    return Fraction(relaxed_value(problem, per_unit)) - max(shared - own, 0) * low + max(own - shared, 0) * high


def clearing_price(own: np.ndarray, low: np.ndarray, high: np.ndarray, capacity: float) -> float:
    """The price of a pool all of whose members are held: the least at which they ask for no more than there is.

    Members whose own price [M] is above it ask for their ``high``, the others for their ``low``.
    """
    if high.sum() <= capacity:
        return 0.0
    order = np.argsort(own)
    # What all ask for once the price has passed the first, the first two ... members' own prices.
    asked = high.sum() - np.cumsum((high - low)[order])
    enough = np.flatnonzero(asked <= capacity)
    return float(own[order[enough[0] if enough.size else -1]])


def relaxed_value(problem: Problem, price: float) -> float:
    """An upper bound on gain - price * cost over all down-closed sets, price and costs per unit; never rounded down."""
    offsets, predecessors = problem.hierarchy.predecessors
    nothing, share = np.zeros(len(problem.hierarchy), np.bool_), even_shares(offsets)
    if problem.hierarchy.parent is None:
        closure((offsets, predecessors), problem.gain, problem.cost, price, share, _SWEEPS, nothing.copy())
    order = (offsets, predecessors, problem.gain, problem.cost)
    return float(distance(*order, price, share, nothing, 0.0, np.empty(predecessors.size)))
