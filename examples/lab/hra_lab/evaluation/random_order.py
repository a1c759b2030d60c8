"""Chance: what any rule must beat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.model.problem import Problem
from hra.model.solution import Solution
from hra.traversals.base import Traversal
from hra_lab.evaluation.whole_levels import in_order


@dataclass(frozen=True)
class RandomOrder(Traversal):
    """Take ready refinements in random order while they fit; the same ones for the same ``seed``."""

    seed: int = 0

    def select(self, problem: Problem) -> Solution:
        """A random set that nothing can be added to."""
        return Solution(in_order(problem, np.random.default_rng(self.seed).permutation(len(problem.hierarchy))))
