"""Hull: the convex hull of what every budget could gain, and the best point on it within the budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from hra.errors import HraError
from hra.problem import Problem
from hra.traversals.base import Solution, Traversal
from hra.traversals.best_first import gain_per_cost
from hra.traversals.greedy import complete
from hra.traversals.relaxation import Relaxation, relaxation

# A relative gap below which another way to fill is not worth its time.
_CLOSE_ENOUGH = 1e-4


@dataclass(frozen=True)
class Hull(Traversal):
    """Solve the Lagrangian relaxation, take its best set within the budget, fill what is left.

    On forests the relaxation is exact (hull slopes by pool adjacent violators); on DAGs it is approached by surplus
    sweeps. Either way the answer carries an upper bound that no choice within the budget can exceed.

    Parameters
    ----------
    finish : "fill" takes further refinements while one fits; "none" stops at the hull point, whose gain never falls
        when the budget grows.
    exact : also take refinements that gain nothing while they fit, so that reachable counts are met to the unit.
    """

    finish: Literal["fill", "none"] = "fill"
    exact: bool = False

    def __post_init__(self) -> None:
        if self.finish not in ("fill", "none"):
            raise HraError(f"unknown finish {self.finish!r}", where="Hull", fix="use 'fill' or 'none'")

    def solve(self, problem: Problem) -> Solution:
        """The hull point of the problem, filled up."""
        relaxed = relaxation(problem)
        selected = relaxed.selected
        if self.finish == "fill":
            selected = self._fill(problem, relaxed)
        return Solution(selected, relaxed.price, relaxed.upper_bound)

    def _fill(self, problem: Problem, relaxed: Relaxation) -> np.ndarray:
        """The best of up to three fills; further ones are tried only while there is something left to win."""
        least = 0.0 if self.exact else np.nextafter(0.0, 1.0)
        ratio = gain_per_cost(problem.gain, problem.hierarchy.cost)
        nothing = np.zeros_like(relaxed.selected)
        best, best_gain = relaxed.selected, -1.0
        for start, priority in ((relaxed.selected, relaxed.slope), (relaxed.selected, ratio), (nothing, ratio)):
            filled = _complete(problem, start, priority, least)
            gain = float(problem.gain[filled].sum())
            if gain > best_gain:
                best, best_gain = filled, gain
            if best_gain >= relaxed.upper_bound * (1 - _CLOSE_ENOUGH):
                break
        return best


def _complete(problem: Problem, start: np.ndarray, priority: np.ndarray, least: float) -> np.ndarray:
    hierarchy, selected = problem.hierarchy, start.copy()
    left = problem.capacity - float(hierarchy.cost[start].sum())
    complete(hierarchy.edges, *hierarchy.successors, hierarchy.cost, priority, left, least, selected)
    return selected
