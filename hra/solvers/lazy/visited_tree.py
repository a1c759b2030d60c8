"""The visited part of a lazy hierarchy as an ordinary one, and what the unvisited part could still gain at most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hra.caching import cached_property
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.model.precise import ceiling, precise_total
from hra.model.problem import Problem
from hra.solvers.duals import certify
from hra.solvers.relaxation import relaxation


@dataclass(frozen=True, eq=False)
class VisitedError(ErrorMetric):
    """The errors that were measured during the visit, read from the attributes of the visited hierarchy."""

    unit: str = "error"
    additive: bool = True

    def evaluate(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Error of each node's region while the node represents it [N]."""
        return hierarchy.attribute("error")

    def inherited(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Error of each node's region while its parent represents it [N]."""
        return hierarchy.attribute("inherited")


@dataclass(frozen=True, eq=False)
class VisitedTree:
    """All nodes that were made, numbered in the order of their making; a parent has the smaller number.

    Attributes
    ----------
    nodes : the caller's key of each node, N of them.
    parent, depth : int32 [N], -1 and 0 for roots.
    cost, least_cost : float64 [N], of the node, and the lower bound on the cost of refining it.
    error, inherited : float64 [N], after repair.
    expanded : bool [N], whether the children of a node are known (a leaf is known to have none).
    """

    nodes: tuple[Any, ...]
    parent: np.ndarray
    depth: np.ndarray
    cost: np.ndarray
    least_cost: np.ndarray
    error: np.ndarray
    inherited: np.ndarray
    expanded: np.ndarray
    mode: Literal["replace", "add"]
    cost_unit: str
    metric: VisitedError

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The visited nodes as a hierarchy; node ``i`` is ``nodes[i]``, its errors are what ``metric`` returns."""
        attributes = {"error": self.error, "inherited": self.inherited, "depth": self.depth}
        return Hierarchy.tree(self.parent, self.cost, mode=self.mode, attributes=attributes, cost_unit=self.cost_unit)

    def problem(self, budget: float) -> Problem:
        """The allocation problem over the visited part alone."""
        return Problem.of(self.hierarchy, self.metric, None, budget)

    def upper_bound(self, budget: float) -> float:
        """No choice within ``budget`` gains more, among all nodes of the lazy hierarchy, made or not.

        Below every node that was not expanded stands one imagined refinement that removes all of its error at the
        least cost: whatever is there cannot do better. The relaxation of that tree is the bound.
        """
        problem = Problem.of(self._imagine(), self.metric, None, budget)
        # The relaxation only suggests a price; what is returned is proven for it and rounded up.
        relaxed = relaxation(problem)
        proof = certify(problem, relaxed.selected, relaxed.price, relaxed.share)
        return ceiling((*precise_total(problem.gain, relaxed.selected), proof.shortfall))

    def _imagine(self) -> Hierarchy:
        below = np.flatnonzero(~self.expanded & (self.error > 0))
        # Cheaper, and with more to gain, than anything that can really be there: every real cut has its like here.
        cost = _rounded_down_sum(self.least_cost[below], self.cost[below] if self.mode == "replace" else 0.0)
        attributes = {
            "error": np.r_[self.error, np.zeros(below.size)],
            "inherited": np.r_[self.inherited, self.error[below]],
        }
        return Hierarchy.tree(np.r_[self.parent, below], np.r_[self.cost, cost], mode=self.mode, attributes=attributes)


def _rounded_down_sum(a: np.ndarray, b: np.ndarray | float) -> np.ndarray:
    """``a + b`` [N], never rounded up."""
    nearest = a + b
    # What rounding lost, exactly (Knuth's sum of two doubles).
    other = nearest - a
    lost = (a - (nearest - other)) + (b - other)
    return np.where(lost < 0, np.nextafter(nearest, -np.inf), nearest)
