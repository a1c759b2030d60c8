"""Best-first: what Potree, Cesium, ROAM and most streamers run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from hra.errors import check_choice
from hra.model.problem import Problem
from hra.model.solution import Solution
from hra.solvers.fill import complete
from hra.traversals.base import Traversal


@dataclass(frozen=True)
class BestFirst(Traversal):
    """Repeatedly take the ready refinement that comes first by one rule and still fits.

    No guarantee for the sum of errors. By gain per cost a refinement that only pays off two levels down is never
    reached: where children are as wrong as their parent the rule stops for good. By error it goes on, and counts
    neither what a refinement costs nor what it gains. Kept as the baselines that users know (ROAM: Duchaineau et al.
    1997).

    Parameters
    ----------
    by : "ratio", most gain per cost first, greedy for the sum of errors; "error", the largest remaining error first
        (the metric's `peak`: pixels for meshes), which is what most streamers of tiles and points run.

    Raises
    ------
    HraError : another rule.

    Examples
    --------
    >>> import hra
    >>> tree = hra.Hierarchy.tree([-1, 0, 0, 1], [1, 1, 1, 1], mode="add")
    >>> late = {"errors": [8.0, 4.0, 2.5, 0.0], "inherited": [0.0, 4.0, 4.0, 4.0]}  # node 1 pays off with node 3
    >>> [hra.solve(tree, 3, **late, traversal=traversal).gain for traversal in (hra.BestFirst(), hra.Hull())]
    [1.5, 4.0]
    >>> flat_root = hra.Hierarchy.tree([-1, 0, 0, 1, 1, 2, 2], [1] * 7)  # the first split gains nothing
    >>> errors = [2.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    >>> [hra.solve(flat_root, 4, errors=errors, traversal=hra.BestFirst(by=rule)).gain for rule in ("ratio", "error")]
    [0.0, 2.0]
    """

    by: Literal["ratio", "error"] = "ratio"

    def __post_init__(self) -> None:
        check_choice("by", self.by, ("ratio", "error"), where="BestFirst")

    def select(self, problem: Problem) -> Solution:
        """Greedy choice from the base; refinements without gain, or without error, are left out."""
        nothing = np.zeros(len(problem.hierarchy), np.bool_)
        priority = problem.ratio if self.by == "ratio" else problem.peak
        return Solution(complete(problem, nothing, priority, spend_all=False))
