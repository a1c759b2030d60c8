"""The Lagrangian relaxation of the budget, for forests and DAGs: a set, a price and a bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.problem import Problem
from hra.sets import take_with_predecessors, total
from hra.traversals.pava import hull_slopes, relaxed_gain
from hra.traversals.selection import select_threshold
from hra.traversals.split_flow import relax

# On DAGs: prices tried by bisection, and sweeps at each. The demo mesh's bound is converged to 0.01 % well before.
_PRICES, _SWEEPS = 40, 60


@dataclass(frozen=True, eq=False)
class Relaxation:
    """selected [R] within the capacity, price lambda, slope [R] to rank what is left, upper_bound on any gain."""

    selected: np.ndarray
    price: float
    slope: np.ndarray
    upper_bound: float


def relaxation(problem: Problem) -> Relaxation:
    """Solve the relaxation; exact on forests, a set with a valid bound on DAGs."""
    return _forest(problem) if problem.hierarchy.parent is not None else _dag(problem)


def _forest(problem: Problem) -> Relaxation:
    hierarchy, gain = problem.hierarchy, problem.gain
    slope = hull_slopes(hierarchy.parent, hierarchy.first_child, gain, problem.slope_cost)
    price = max(select_threshold(slope, problem.cost, problem.capacity), 0.0)
    selected = slope > price
    # Recomputed from scratch rather than from the blocks: weak duality holds whatever happened above.
    bound = relaxed_gain(hierarchy.parent, gain, problem.cost, price) + price * problem.capacity
    return Relaxation(selected, price, slope, _at_least(bound, gain, selected))


def _dag(problem: Problem) -> Relaxation:
    hierarchy, gain = problem.hierarchy, problem.gain
    selected, everything = np.zeros(len(hierarchy), np.bool_), float(gain.sum())
    useful = gain > 0
    take_with_predecessors(*hierarchy.predecessors, useful)
    if total(problem.cost, useful) <= problem.capacity:
        return Relaxation(useful, 0.0, problem.ratio, everything)
    low, high = price_range(problem)
    price, bound = relax(
        *hierarchy.predecessors, gain, problem.cost, problem.capacity, low, high, _PRICES, _SWEEPS, selected
    )
    return Relaxation(selected, price, problem.ratio, _at_least(min(bound, everything), gain, selected))


def price_range(problem: Problem) -> tuple[float, float]:
    """Prices between which all sets of the relaxation change.

    Below the first even the least gain pays for everything; above the second nothing that costs is worth it, whatever
    it opens up. (1, 1) where no refinement gains or none costs anything.
    """
    gaining, paid = problem.gain > 0, problem.cost > 0
    if not gaining.any() or not paid.any():
        return 1.0, 1.0
    low = problem.gain[gaining].min() / problem.cost.sum()
    return float(low), float(problem.gain.sum() / problem.cost[paid].min())


def _at_least(bound: float, gain: np.ndarray, selected: np.ndarray) -> float:
    """Rounding may put the bound a few ulps under the gain of the set that attains it."""
    return max(float(bound), total(gain, selected))
