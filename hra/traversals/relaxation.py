"""The Lagrangian relaxation of the budget, for forests and DAGs: a set, a price and a bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.problem import Problem
from hra.sets import take_with_predecessors, total
from hra.traversals.bracket import HullPoint, hull_point
from hra.traversals.pava import hull_slopes, relaxed_gain
from hra.traversals.selection import select_threshold
from hra.traversals.split_flow import relax

# On DAGs: prices tried by bisection, and sweeps at each. The demo mesh's bound is converged to 0.01 % well before.
_PRICES, _SWEEPS = 40, 60
# Forests from this size on are searched around a guess of the price, by default from every so manyth refinement.
_LARGE, _STRIDE = 20_000, 61


@dataclass(frozen=True, eq=False)
class Relaxation:
    """A set within the capacity and what is known of the rest.

    Attributes
    ----------
    selected : bool [R], down-closed.
    price : gain per cost unit, lambda.
    priority : float64 [R], to rank what is left; negative for what is no candidate. Valid until the next solve.
    upper_bound : no set within the capacity gains more.
    candidates : int [K] or None for all, the refinements near the price.
    """

    selected: np.ndarray
    price: float
    priority: np.ndarray
    upper_bound: float
    candidates: np.ndarray | None = None


def relaxation(problem: Problem) -> Relaxation:
    """Solve the relaxation; exact on forests, a set with a valid bound on DAGs."""
    if problem.hierarchy.parent is None:
        return _dag(problem)
    near = _near_price(problem) if len(problem.hierarchy) >= _LARGE else None
    return _pooled(problem) if near is None else _near(problem, near)


def _pooled(problem: Problem) -> Relaxation:
    """The hull point from the slopes of the whole forest."""
    hierarchy = problem.hierarchy
    slope = hull_slopes(hierarchy.parent, hierarchy.first_child, problem.gain, problem.slope_cost)
    price = max(select_threshold(slope, problem.cost, problem.capacity), 0.0)
    selected = slope > price
    return Relaxation(selected, price, slope, _forest_bound(problem, price, selected))


def _near_price(problem: Problem) -> HullPoint | None:
    """The hull point near the last price of a sequence, or near the price that a sample of the ratios suggests."""
    guess = problem.price
    if guess is None:
        sample = slice(None, None, _STRIDE)
        ratio = problem.gain[sample] / problem.slope_cost[sample]
        guess = select_threshold(ratio, problem.cost[sample], problem.capacity / _STRIDE)
    if not 0.0 < guess < np.inf or problem.capacity <= 0:
        return None
    return hull_point(problem, guess)


def _near(problem: Problem, point: HullPoint) -> Relaxation:
    priority = problem.hierarchy.scratch.array("priority", (len(problem.hierarchy),))
    priority.fill(-1.0)
    priority[point.undecided] = point.slope
    bound = _forest_bound(problem, point.price, point.selected)
    return Relaxation(point.selected, point.price, priority, bound, point.undecided)


def _forest_bound(problem: Problem, price: float, selected: np.ndarray) -> float:
    """The dual value at ``price``, from a sweep of its own: weak duality holds whatever happened before."""
    hierarchy = problem.hierarchy
    worth = hierarchy.scratch.array("worth", (len(hierarchy), 2)).reshape(-1)[: len(hierarchy)]
    best = relaxed_gain(hierarchy.parent, hierarchy.first_child, problem.gain, problem.cost, price, worth)
    return _at_least(best + price * problem.capacity, problem.gain, selected)


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
