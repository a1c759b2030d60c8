"""Slow but obvious answers: enumeration of all selections, and linear programs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

from hra.allocating.allocation import Allocation
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from hra.model.solution import Solution
from hra.testing.traversal import closed_sets


def affordable_sets(problem: Problem) -> np.ndarray:
    """Every down-closed set within the budget, bool [S, R]."""
    sets = closed_sets(problem.hierarchy)
    return sets[problem.hierarchy.base_cost + sets @ problem.hierarchy.cost <= problem.budget]


def best_gain(problem: Problem) -> float:
    """The most that any choice within the budget gains."""
    return float((affordable_sets(problem) @ problem.gain).max())


def least_peak(problem: Problem) -> float:
    """The smallest largest error of what is not taken that any choice within the budget leaves."""
    sets = affordable_sets(problem)
    return float(np.where(sets, 0.0, problem.peak).max(axis=1, initial=0.0).min())


def smallest_closure(hierarchy: Hierarchy, gain: np.ndarray, price: float) -> np.ndarray:
    """What all down-closed sets that maximise gain - price * cost have in common: the smallest maximiser, bool [R]."""
    sets = closed_sets(hierarchy)
    value = sets @ (gain - price * hierarchy.cost)
    return np.logical_and.reduce(sets[value >= value.max() - 1e-9], axis=0)


def bound_of(problem: Problem, solution: Solution) -> float:
    """What the solution proves that no choice within the budget gains more than."""
    return Allocation(problem, replace(solution, selected=solution.selected.copy()), 0.0).upper_bound


def linear_bound(problem: Problem) -> float:
    """The most gain if refinements could be taken in part: x[successor] <= x[predecessor], 0 <= x <= 1."""
    hierarchy, edges = problem.hierarchy, problem.hierarchy.edges
    if not len(hierarchy):
        return 0.0
    row = np.arange(len(edges))
    order = coo_array(
        (np.r_[np.ones(len(edges)), -np.ones(len(edges))], (np.r_[row, row], np.r_[edges[:, 1], edges[:, 0]])),
        shape=(len(edges), len(hierarchy)),
    ).toarray()
    result = linprog(
        -problem.gain,
        A_ub=np.vstack([order, problem.cost]),
        b_ub=np.r_[np.zeros(len(edges)), problem.capacity],
        bounds=(0, 1),
        method="highs",
    )
    if not result.success:
        raise RuntimeError(result.message)
    return -float(result.fun)
