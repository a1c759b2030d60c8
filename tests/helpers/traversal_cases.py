"""What several tests of traversal share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import hra
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from hra.model.solution import Solution


@dataclass(frozen=True)
class Greedy(hra.Traversal):
    """A traversal as a stranger would write it: what is ready and fits, in level order."""

    overspend: float = 0.0
    orphans: bool = False
    shortfall: float | None = None
    forgetful: bool = False

    def select(self, problem: Problem) -> Solution:
        selected, left = np.zeros(len(problem.hierarchy), np.bool_), problem.capacity + self.overspend
        offsets, predecessors = problem.hierarchy.predecessors
        for r in range(selected.size):
            ready = self.orphans or selected[predecessors[offsets[r] : offsets[r + 1]]].all()
            if ready and problem.cost[r] <= left:
                selected[r] = True
                left -= problem.cost[r]
        if self.forgetful and np.random.default_rng().random() < 0.5:
            selected[:] = False
        return Solution(selected, shortfall=self.shortfall)


class Error(hra.ErrorMetric):
    """Errors by node, with one mistake."""

    def __init__(self, values: Any, mistake: str = ""):
        self.values, self.mistake, self.calls = np.asarray(values, float), mistake, 0

    def evaluate(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        self.calls += self.mistake == "state"
        return self.values * context + self.calls

    def peak(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        return self.evaluate(hierarchy, context) * (-1 if self.mistake == "peak" else 1)


TREE = Hierarchy.tree([-1, 0, 0], [1, 1, 1])
