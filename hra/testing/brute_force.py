"""Slow but obvious answers: enumeration of all selections, in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem


def closed_sets(hierarchy: Hierarchy) -> np.ndarray:
    """Every down-closed set of refinements, bool [S, R]; for at most 16 refinements."""
    size = len(hierarchy)
    sets = (np.arange(2**size)[:, None] >> np.arange(size) & 1).astype(bool)
    for before, after in hierarchy.edges:
        sets = sets[~sets[:, after] | sets[:, before]]
    return sets


def affordable_sets(problem: Problem) -> np.ndarray:
    """Every down-closed set within the budget that takes what is pinned, bool [S, R]; costs are exact."""
    sets = closed_sets(problem.hierarchy)
    if problem.pinned is not None:
        sets = sets[sets[:, problem.pinned].all(axis=1)]
    cost = np.array([problem.hierarchy.cost_of(selected) for selected in sets])
    return sets[cost <= problem.budget]


def exact_gain(problem: Problem, selected: np.ndarray) -> Fraction:
    """What ``selected`` [R] gains, as a fraction."""
    return sum(map(Fraction, problem.gain[selected].tolist()), Fraction(0))


def best_gain(problem: Problem) -> Fraction:
    """The most that any choice within the budget gains, as a fraction."""
    return max(exact_gain(problem, selected) for selected in affordable_sets(problem))
