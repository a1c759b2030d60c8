"""Apportion: so many nodes of each stratum, the best ones of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.errors import ArrayError, HierarchyError, HraError, wrong_kind
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
        ArrayError : the rule returned counts that do not fit.
        """
        hierarchy, size = problem.hierarchy, len(problem.hierarchy)
        if not size:
            return Solution(np.zeros(0, np.bool_))
        total = _affordable(problem)
        _, stratum = np.unique(_per_refinement(hierarchy, "stratum"), return_inverse=True)
        members = np.bincount(stratum)
        counts = np.asarray(self.rule(self._importance(problem, stratum), total, members))
        if counts.shape != members.shape or np.any((counts < 0) | (counts > members)) or counts.sum() > total:
            raise ArrayError(f"the rule returned {counts} for strata of {members} nodes", where="Apportion.rule")
        order = np.lexsort((-problem.gain, stratum))  # stable: equal gains in the order of the refinements
        rank = np.arange(size) - np.repeat(np.cumsum(members) - members, members)
        selected = np.zeros(size, np.bool_)
        selected[order] = rank < np.repeat(counts, members)
        return Solution(selected)

    def _importance(self, problem: Problem, stratum: np.ndarray) -> np.ndarray:
        if self.importance is None:
            return np.bincount(stratum, problem.gain)
        importance = np.zeros(int(stratum.max()) + 1)
        np.maximum.at(importance, stratum, _per_refinement(problem.hierarchy, self.importance))
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
