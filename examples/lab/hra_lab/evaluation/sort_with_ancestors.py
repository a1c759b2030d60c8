"""Sorting once, with what a refinement stands on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.compiling import njit
from hra.model.problem import Problem
from hra.model.sets import take_with_predecessors, total
from hra.model.solution import Solution
from hra.traversals.base import Traversal
from hra_lab.evaluation.sort_by_ratio import by_ratio


@dataclass(frozen=True)
class SortWithAncestors(Traversal):
    """Go once through all refinements by falling gain per cost; take each with all its ancestors if together they fit.

    The ancestors are not asked what they gain.
    """

    def select(self, problem: Problem) -> Solution:
        """What one pass over the sorted list takes."""
        selected = np.zeros(len(problem.hierarchy), np.bool_)
        order, capacity = by_ratio(problem), problem.capacity
        return Solution(_with_ancestors(order, *problem.hierarchy.predecessors, problem.cost, capacity, selected))


@njit(cache=True)
def _with_ancestors(order, offsets, predecessors, cost, capacity, selected):
    for r in order:
        if selected[r]:
            continue
        trial = selected.copy()
        trial[r] = True
        take_with_predecessors(offsets, predecessors, trial)
        if total(cost, trial) <= capacity:
            selected = trial
    return selected
