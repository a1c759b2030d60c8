"""Threshold: refine whatever is worse than tau."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from hra.errors import MetricError
from hra.model.arrays import is_number
from hra.model.problem import Problem
from hra.model.solution import Solution
from hra.solvers.fill import complete
from hra.solvers.selection import select_threshold
from hra.traversals.base import Traversal


@dataclass(frozen=True)
class Threshold(Traversal):
    """Take every refinement whose remaining error exceeds tau: exact for the largest error that remains.

    Within a budget tau is raised just as far as the budget demands, by weighted selection instead of bisection, so the
    largest remaining error is the smallest that any choice could reach. Part of the budget may stay unused. Where costs
    have no common unit, choices count that fit with each cost rounded up, by less than a part in 2**51 of all costs.

    Parameters
    ----------
    tau : error that is acceptable everywhere, in the unit of the metric's `peak` (pixels for meshes); None asks for the
        smallest that the budget allows.

    Examples
    --------
    >>> import hra
    >>> tree = hra.Hierarchy.tree([-1, 0, 0, 1, 1, 2, 2], [1] * 7)
    >>> errors = [8.0, 4.0, 3.0, 1.0, 1.0, 1.0, 1.0]
    >>> hra.solve(tree, float("inf"), errors=errors, traversal=hra.Threshold(3.5)).cut
    array([2, 3, 4])
    >>> smallest = hra.solve(tree, 3, errors=errors, traversal=hra.Threshold())
    >>> smallest.tau, smallest.max_error
    (3.0, 3.0)
    """

    tau: float | None = None
    objective: ClassVar[Literal["sum", "max"]] = "max"

    def __post_init__(self) -> None:
        if self.tau is not None and not (is_number(self.tau) and self.tau >= 0):
            fix = "give the largest error that may remain, in the metric's unit, such as Threshold(tau=1.0)"
            raise MetricError(f"tau must be a number >= 0, got {self.tau!r}", where="Threshold", fix=fix)

    def select(self, problem: Problem) -> Solution:
        """All refinements above the larger of tau and what the budget allows."""
        # Refinements of error 0 change nothing, so an ample budget still stops at 0.
        acceptable = 0.0 if self.tau is None else float(self.tau)
        reachable = _reachable(problem, acceptable)
        tau = max(reachable, acceptable)
        selected, tied = np.greater(problem.peak, tau), problem.peak == tau
        if reachable > acceptable and np.count_nonzero(tied) > 1:
            # Not all refinements at tau fit, but some may: those of most gain per cost first.
            selected = complete(problem, selected, np.where(tied, problem.ratio, 0.0), spend_all=False)
        return Solution(selected=selected, tau=tau)


def _reachable(problem: Problem, acceptable: float) -> float:
    """The smallest tau that the capacity allows, -inf if it allows everything above ``acceptable``."""
    if not problem.hierarchy.shrinks:
        return float(select_threshold(problem.peak, problem.cost, problem.capacity))
    # What costs less than nothing makes room again: the last of all thresholds that fit, not the first that does not.
    order = np.argsort(-problem.peak, kind="stable")
    peak, spent = problem.peak[order], np.cumsum(problem.cost[order])
    ends = np.flatnonzero(np.append(peak[1:] < peak[:-1], True)[: peak.size] & (peak > acceptable))
    fitting = ends[spent[ends] <= problem.capacity]
    if not fitting.size:
        return float(peak.max(initial=-np.inf)) if ends.size else -np.inf
    return float(peak[fitting[-1] + 1]) if fitting[-1] < ends[-1] else -np.inf
