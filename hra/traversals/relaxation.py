"""The Lagrangian relaxation of the budget, for forests and DAGs: a set, a price and a bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.problem import Problem
from hra.traversals.best_first import gain_per_cost
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
    slope, _ = hull_slopes(hierarchy.parent, gain, hierarchy.cost)
    price = max(select_threshold(slope, hierarchy.cost, problem.capacity), 0.0)
    selected = slope > price
    # Recomputed from scratch rather than from the blocks: weak duality holds whatever happened above.
    bound = relaxed_gain(hierarchy.parent, gain, hierarchy.cost, price) + price * problem.capacity
    return Relaxation(selected, price, slope, _at_least(bound, gain, selected))


def _dag(problem: Problem) -> Relaxation:
    hierarchy, gain = problem.hierarchy, problem.gain
    ratio = gain_per_cost(gain, hierarchy.cost)
    selected = np.zeros(len(hierarchy), np.bool_)
    useful = ratio[(ratio > 0) & np.isfinite(ratio)]
    if problem.capacity >= hierarchy.cost.sum() or not useful.size:
        selected[:] = problem.capacity >= hierarchy.cost.sum()
        return Relaxation(selected, 0.0, ratio, float(gain.sum()))
    # Any price in between would do for validity; a block's slope lies between the extreme ratios or below the least.
    low, high = useful.min() * 1e-3, useful.max()
    price, bound = relax(
        *hierarchy.predecessors, gain, hierarchy.cost, problem.capacity, low, high, _PRICES, _SWEEPS, selected
    )
    return Relaxation(selected, price, ratio, _at_least(min(bound, float(gain.sum())), gain, selected))


def _at_least(bound: float, gain: np.ndarray, selected: np.ndarray) -> float:
    """Rounding may put the bound a few ulps under the gain of the set that attains it."""
    return max(float(bound), float(gain[selected].sum()))
