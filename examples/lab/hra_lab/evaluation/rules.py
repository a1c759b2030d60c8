"""The rules that are compared, by the names that tables and pictures show.

Chance: what any rule must beat.

Sorting once, with what a refinement stands on.

Sorting once, as a flat knapsack is filled.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.compiling import njit
from hra.model.hierarchy import divisible
from hra.model.problem import Problem
from hra.model.sets import take_with_predecessors, total
from hra.model.solution import Solution
from hra.traversals.base import Traversal
from hra.traversals.best_first import BestFirst
from hra.traversals.exact import Exact
from hra.traversals.hull import Hull
from hra.traversals.threshold import Threshold
from hra_lab.evaluation.whole_levels import WholeLevels, in_order

# What the library proposes; all others are what is commonly run.
PROPOSED = ("Exact", "Hull", "Hull, not filled")


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


@dataclass(frozen=True)
class RandomOrder(Traversal):
    """Take ready refinements in random order while they fit; the same ones for the same ``seed``."""

    seed: int = 0

    def select(self, problem: Problem) -> Solution:
        """A random set that nothing can be added to."""
        return Solution(in_order(problem, np.random.default_rng(self.seed).permutation(len(problem.hierarchy))))


RULES: dict[str, Traversal] = {
    "Exact": Exact(),
    "Hull": Hull(),
    "Hull, not filled": Hull(finish="none"),
    "best first": BestFirst(),
    "threshold": Threshold(),
    "sort, with ancestors": SortWithAncestors(),
    "sort, one pass": SortByRatio(),
    "whole levels": WholeLevels(),
    "random order": RandomOrder(),
}
