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
    potential : float64 [N, K], the most gain below a node, see `hra.LazyMetric.potential`.
    needs : float64 [N], the least budget that pays for a cut in which the node is refined.
    """

    nodes: tuple[Any, ...]
    parent: np.ndarray
    depth: np.ndarray
    cost: np.ndarray
    least_cost: np.ndarray
    error: np.ndarray
    inherited: np.ndarray
    expanded: np.ndarray
    potential: np.ndarray
    needs: np.ndarray
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

        Below every node that was not expanded, and whose refinement the budget could pay, stand imagined refinements
        that gain its potential at the least cost: whatever is there cannot do better. The relaxation of that tree is
        the bound.
        """
        room = self._room(budget)
        problem = Problem.of(self._imagine(room)[0], self.metric, None, room)
        # The relaxation only suggests a price; what is returned is proven for it and rounded up.
        relaxed = relaxation(problem)
        proof = certify(problem, relaxed.selected, relaxed.price, relaxed.share)
        return ceiling((*precise_total(problem.gain, relaxed.selected), proof.shortfall))

    def promising(self, budget: float, loss: float = 0.0) -> np.ndarray:
        """Nodes to look into, most potential first: what the bound of `upper_bound` rests on that is only imagined.

        Slopes are those of the concave envelope: steps that do not pay are pooled with what they lead to. Without such
        nodes the bound is that of the visited tree. With ``loss``, also nodes that a cut which gains so much less than
        the bound may refine (reduced costs).
        """
        room = self._room(budget)
        hierarchy, below = self._imagine(room)
        relaxed = relaxation(Problem.of(hierarchy, self.metric, None, room))
        first = hierarchy.added_by[len(self.nodes) : len(self.nodes) + below.size]
        lost = (relaxed.price - relaxed.priority[first]) * self.least_cost[below]
        below = below[relaxed.selected[first] | (lost <= loss)]
        return below[np.argsort(-self.potential[below, -1], kind="stable")]

    def _room(self, budget: float) -> float:
        """``budget``, and what may be lost where the search counts decimals and a hierarchy without a unit doubles."""
        numbers = np.concatenate([self.cost, np.repeat(self.least_cost, self.potential.shape[1])])
        if not np.isfinite(budget) or bool((numbers == np.floor(numbers)).all()):
            return budget
        # A double and the decimal that it prints as differ by half a spacing at most.
        return budget + float(np.spacing(budget) + np.spacing(numbers).sum())

    def _imagine(self, budget: float) -> tuple[Hierarchy, np.ndarray]:
        """The tree with what is imagined, and the nodes [M] below which that is; their first steps come first."""
        below = np.flatnonzero(~self.expanded & (self.potential[:, -1] > 0) & (self.needs <= budget))
        layers = [(self.parent, self.cost, self.error, self.inherited)]
        node, above, paid, kept, steps = below, below, self.cost[below], self.error[below], self.potential[below]
        count = self.parent.size
        # Cheaper, and with more to gain, than anything that can really be there: every real cut has its like here.
        for k in range(self.potential.shape[1]):
            paid = _rounded_down_sum(self.least_cost[node], paid if self.mode == "replace" else 0.0)
            left = _rounded_down_sum(self.error[node], -steps[:, k])
            # Differences of what is left are rounded, too: by less than this.
            left = np.maximum(left - 2 * k * np.spacing(self.error[node]), 0.0)
            layers.append((above, paid, left, kept))
            more = steps[:, k] < steps[:, -1]
            above = (count + np.arange(node.size))[more]
            count += node.size
            node, paid, kept, steps = node[more], paid[more], left[more], steps[more]
        parent, cost, error, inherited = map(np.concatenate, zip(*layers, strict=True))
        attributes = {"error": error, "inherited": inherited}
        return Hierarchy.tree(parent, cost, mode=self.mode, attributes=attributes), below


def _rounded_down_sum(a: np.ndarray, b: np.ndarray | float) -> np.ndarray:
    """``a + b`` [N], never rounded up."""
    nearest = a + b
    # What rounding lost, exactly (Knuth's sum of two doubles).
    other = nearest - a
    lost = (a - (nearest - other)) + (b - other)
    return np.where(lost < 0, np.nextafter(nearest, -np.inf), nearest)
