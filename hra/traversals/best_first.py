"""Best-first: what Potree, Cesium, ROAM and most streamers run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.problem import Problem
from hra.traversals.base import Solution, Traversal
from hra.traversals.greedy import complete


@dataclass(frozen=True)
class BestFirst(Traversal):
    """Repeatedly take the ready refinement with the most gain per cost that still fits.

    No guarantee for the sum of errors: a refinement that only pays off two levels down is never reached. Kept as the
    baseline that users know (ROAM: Duchaineau et al. 1997).
    """

    def solve(self, problem: Problem) -> Solution:
        """Greedy choice from the base; refinements without gain are left out."""
        hierarchy = problem.hierarchy
        ratio = gain_per_cost(problem.gain, hierarchy.cost)
        selected = np.zeros(len(hierarchy), np.bool_)
        least = np.nextafter(0.0, 1.0)
        complete(hierarchy.edges, *hierarchy.successors, hierarchy.cost, ratio, problem.capacity, least, selected)
        return Solution(selected)


def gain_per_cost(gain: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """Ratio [R]; infinite for free refinements that gain, 0 for free ones that do not."""
    ratio = np.where(gain > 0, np.inf, 0.0)
    return np.divide(gain, cost, out=ratio, where=cost > 0)
