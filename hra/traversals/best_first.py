"""Best-first: what Potree, Cesium, ROAM and most streamers run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.model.problem import Problem
from hra.model.solution import Solution
from hra.solvers.fill import complete
from hra.traversals.base import Traversal


@dataclass(frozen=True)
class BestFirst(Traversal):
    """Repeatedly take the ready refinement with the most gain per cost that still fits.

    No guarantee for the sum of errors: a refinement that only pays off two levels down is never reached. Kept as the
    baseline that users know (ROAM: Duchaineau et al. 1997).

    Examples
    --------
    >>> import hra
    >>> tree = hra.Hierarchy.tree([-1, 0, 0, 1], [1, 1, 1, 1], mode="add")
    >>> late = {"errors": [8.0, 4.0, 2.5, 0.0], "inherited": [0.0, 4.0, 4.0, 4.0]}  # node 1 pays off with node 3
    >>> [hra.solve(tree, 3, **late, traversal=traversal).gain for traversal in (hra.BestFirst(), hra.Hull())]
    [1.5, 4.0]
    """

    def select(self, problem: Problem) -> Solution:
        """Greedy choice from the base; refinements without gain are left out."""
        nothing = np.zeros(len(problem.hierarchy), np.bool_)
        return Solution(complete(problem, nothing, problem.ratio, spend_all=False))
