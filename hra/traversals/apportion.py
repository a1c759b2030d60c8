"""Apportion: a number of nodes from each stratum, the best ones of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.errors import ArrayError, HierarchyError, HraError, wrong_kind
from hra.model.arrays import numbers, to_numpy
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from hra.model.solution import Solution
from hra.solvers.apportionment import largest_remainder
from hra.traversals.base import Traversal


@dataclass(frozen=True)
class Apportion(Traversal):
    """Deal the budget out over strata by a rule, then take the nodes of most gain inside each stratum.

    For flat hierarchies of nodes of equal cost that carry the attribute ``stratum``. Every affordable count is met to
    the unit, with nodes of no gain if need be, and if strata run out of nodes.

    Parameters
    ----------
    rule : of `hra.solvers.apportionment`, or any ``rule(importance, total, capacity) -> int counts``; options are bound
        with ``functools.partial(tiers, counts=(9, 3, 1))``.
    importance : name of the node attribute that holds the importance of the node's stratum (the largest counts); by
        default a stratum is as important as the sum of its gains.

    Examples
    --------
    >>> import hra
    >>> photos = hra.Hierarchy.flat([1] * 6, attributes={"stratum": [0, 0, 0, 0, 1, 1]})
    >>> hra.solve(photos, 3, gains=[5.0, 4.0, 4.0, 3.0, 4.0, 4.0], traversal=hra.Apportion()).cut
    array([0, 1, 4])
    """

    rule: Callable[[np.ndarray, int, np.ndarray], np.ndarray] = largest_remainder
    importance: str | None = None

    def __post_init__(self) -> None:
        if not callable(self.rule):
            fix = "pass a rule of hra.solvers.apportionment, or any rule(importance, total, capacity)"
            raise HraError(f"rule must be a function, got {self.rule!r}", where="Apportion", fix=fix)
        if not isinstance(self.importance, (str, type(None))):
            raise wrong_kind("importance", self.importance, str, "name a node attribute, or leave it out")

    def select(self, problem: Problem) -> Solution:
        """The best nodes of every stratum, as many as the rule gives it.

        Raises
        ------
        HierarchyError : the hierarchy is not flat, or costs differ.
        MetricError : an attribute is missing.
        ArrayError : the rule returned counts that are not whole or do not fit, or importances are not finite numbers.
        """
        hierarchy, selected = problem.hierarchy, np.zeros(len(problem.hierarchy), np.bool_)
        # What is pinned is there already.
        free = np.arange(selected.size) if problem.pinned is None else np.flatnonzero(~problem.pinned)
        if not free.size:
            return Solution(selected)
        total, gain = _affordable(problem), problem.gain[free]
        _, stratum = np.unique(_per_refinement(hierarchy, "stratum")[free], return_inverse=True)
        members = np.bincount(stratum)
        counts = to_numpy(self.rule(self._importance(hierarchy, gain, free, stratum), total, members))
        whole = counts.shape == members.shape and counts.dtype.kind in "iu"
        if not whole or np.any((counts < 0) | (counts > members)) or counts.sum() > total:
            fix = f"return whole numbers that add up to at most {total}, for each stratum at most its nodes"
            raise ArrayError(
                f"the rule returned {counts} for strata of {members} nodes", where="Apportion.rule", fix=fix
            )
        order = np.lexsort((-gain, stratum))  # stable: equal gains in the order of the refinements
        rank = np.arange(free.size) - np.repeat(np.cumsum(members) - members, members)
        selected[free[order]] = rank < np.repeat(counts, members)
        return Solution(selected)

    def _importance(self, hierarchy: Hierarchy, gain: np.ndarray, free: np.ndarray, stratum: np.ndarray) -> np.ndarray:
        if self.importance is None:
            return np.bincount(stratum, gain)
        importance = np.zeros(int(stratum.max()) + 1)
        values = numbers(self.importance, _per_refinement(hierarchy, self.importance))
        np.maximum.at(importance, stratum, values[free])
        return importance


def _affordable(problem: Problem) -> int:
    """How many refinements the capacity pays."""
    cost = problem.hierarchy.unit_cost
    if len(problem.hierarchy.edges) or np.any(cost != cost[0]) or not cost[0] > 0:
        raise HierarchyError(
            "Apportion needs independent nodes of one cost above 0",
            where=repr(problem.hierarchy),
            fix="use Hierarchy.flat with equal costs, or another traversal",
        )
    return int(problem.capacity // cost[0])


def _per_refinement(hierarchy: Hierarchy, name: str) -> Any:
    """A node attribute [N] by the refinement that adds the node [R]."""
    values = hierarchy.attribute(name)
    if values.ndim != 1:
        raise ArrayError(f"attribute {name!r} has shape {values.shape}, expected one value per node", where=name)
    added = hierarchy.added_by >= 0
    result = np.empty(len(hierarchy), values.dtype)
    result[hierarchy.added_by[added]] = values[added]
    return result
