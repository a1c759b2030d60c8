"""The abstract allocator: hierarchy, metric and traversal, joined once for all domains."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import Any

from hra.allocating.allocation import Allocation
from hra.allocating.curve import Curve, curve
from hra.allocating.modifiers import in_sequence, pin, with_pinned
from hra.model.budget import check_budget
from hra.model.builder import HierarchyBuilder
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.model.problem import Problem
from hra.model.solution import Solution
from hra.traversals.base import Traversal


class HierarchicalResourceAllocator(ABC):
    """Chooses the subset of nodes with the best quality within a budget.

    The data runs one way: context -> metric -> gains -> traversal -> allocation -> realize. Domains implement
    `realize`; `problem_for` and `traverse_and_select` are the two steps that a subclass may replace.

    Parameters
    ----------
    hierarchy : what can be refined, or a builder that makes it from each context.
    metric : turns a context into the error of every node.
    traversal : chooses the refinements.

    Examples
    --------
    >>> import hra
    >>> class Distance(hra.ErrorMetric):
    ...     def evaluate(self, hierarchy, context):
    ...         return hierarchy.attribute("error") / context
    >>> class Names(hra.HierarchicalResourceAllocator):
    ...     def realize(self, allocation):
    ...         return [("whole", "left", "right")[node] for node in allocation.cut]
    >>> halves = hra.Hierarchy.tree([-1, 0, 0], [1, 1, 1], attributes={"error": [4.0, 1.0, 1.0]})
    >>> names = Names(halves, Distance(), hra.Hull())
    >>> allocation = names.allocate(context=2.0, budget=2)
    >>> names.realize(allocation), allocation.residual
    (['left', 'right'], 1.0)
    """

    def __init__(self, hierarchy: Hierarchy | HierarchyBuilder, metric: ErrorMetric, traversal: Traversal) -> None:
        self.hierarchy = hierarchy
        self.metric = metric
        self.traversal = traversal

    def allocate(
        self, context: Any, budget: float, *, previous: Allocation | None = None, pinned: Any = None
    ) -> Allocation:
        """The allocation for ``context`` that costs at most ``budget``.

        Parameters
        ----------
        context : what the metric reads: a camera, an image and a query ...
        budget : in the hierarchy's cost unit.
        previous : the allocation of the last step of a sequence, over the same hierarchy; `Coherent` traversals stay
            close to it, and `Allocation.churn` counts what changed.
        pinned : int [K], nodes that must be there: what adds them is always taken, with all that comes before.

        Raises
        ------
        InvalidBudget : the budget is not a number >= 0.
        BudgetTooSmall : it does not cover the coarsest level and what is pinned.
        MetricError : the metric returned unusable values, or gains whose sum overflows.
        HierarchyError : ``previous`` belongs to another hierarchy.
        ArrayError : ``pinned`` are not nodes of the hierarchy.
        """
        start = time.perf_counter()
        hierarchy = self.hierarchy_for(context)
        budget = check_budget(budget, hierarchy)
        problem = self.problem_for(hierarchy, context, budget)
        problem.check()
        problem = in_sequence(pin(problem, pinned), previous)
        solution = self.traverse_and_select(problem)
        return Allocation(problem, with_pinned(problem, solution), time.perf_counter() - start, context)

    def curve(self, context: Any) -> Curve:
        """Gain and error against cost for ``context``: the hull points of all budgets, from one solve."""
        problem = self.problem_for(self.hierarchy_for(context), context, float("inf"))
        problem.check()
        return curve(problem)

    def hierarchy_for(self, context: Any) -> Hierarchy:
        """The hierarchy that serves ``context``."""
        return self.hierarchy.build(context) if isinstance(self.hierarchy, HierarchyBuilder) else self.hierarchy

    def problem_for(self, hierarchy: Hierarchy, context: Any, budget: float) -> Problem:
        """Evaluate the metric: the gain of every refinement."""
        return Problem.of(hierarchy, self.metric, context, budget)

    def traverse_and_select(self, problem: Problem) -> Solution:
        """Choose the refinements."""
        return self.traversal.solve(problem)

    @abstractmethod
    def realize(self, allocation: Allocation) -> Any:
        """Turn the cut into the resource: a triangle mesh, resident tiles, a token tensor."""
