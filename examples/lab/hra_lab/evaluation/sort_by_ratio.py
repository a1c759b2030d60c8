"""Sorting once, as a flat knapsack is filled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.compiling import njit
from hra.model.hierarchy import divisible
from hra.model.problem import Problem
from hra.model.solution import Solution
from hra.traversals.base import Traversal


@dataclass(frozen=True)
class SortByRatio(Traversal):
    """Go once through all refinements by falling gain per cost; take each that fits and whose predecessors are there.

    What comes before its predecessors is passed over and never looked at again.
    """

    def select(self, problem: Problem) -> Solution:
        """What one pass over the sorted list takes."""
        selected = np.zeros(len(problem.hierarchy), np.bool_)
        _one_pass(by_ratio(problem), *problem.hierarchy.predecessors, problem.cost, problem.capacity, selected)
        return Solution(selected)


def by_ratio(problem: Problem) -> np.ndarray:
    """All refinements by falling gain per cost, int [R].

    A free refinement counts as what the nodes that it adds cost: else the last of siblings that are added one by one,
    which costs nothing because the parent leaves, would come first everywhere.
    """
    hierarchy = problem.hierarchy
    added = hierarchy.added_by >= 0
    node_cost = np.bincount(hierarchy.added_by[added], hierarchy.node_cost[added], len(hierarchy))
    cost = divisible(np.where(problem.cost > 0, problem.cost, node_cost))
    return np.argsort(-problem.gain / cost, kind="stable")


@njit(cache=True)
def _one_pass(order, offsets, predecessors, cost, left, selected):
    for r in order:
        fits = cost[r] <= left
        for k in range(offsets[r], offsets[r + 1]):
            fits = fits and selected[predecessors[k]]
        if fits:
            selected[r] = True
            left -= cost[r]
