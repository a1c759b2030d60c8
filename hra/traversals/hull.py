"""Hull: the convex hull of what every budget could gain, and the best point on it within the budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from hra.errors import HraError, wrong_kind
from hra.model.problem import Problem
from hra.model.sets import total
from hra.model.solution import Solution
from hra.solvers.fill import complete
from hra.solvers.relaxation import Relaxation, relaxation
from hra.traversals.base import Traversal

# A relative gap below which another way to fill is not worth its time.
_CLOSE_ENOUGH = 1e-4


@dataclass(frozen=True)
class Hull(Traversal):
    """Solve the Lagrangian relaxation, take its best set within the budget, fill what is left.

    On forests the relaxation is exact (hull slopes by pool adjacent violators); on DAGs it is approached by sweeps of
    surplus, then by maximum flows. Either way the answer carries an upper bound that no choice within the budget can
    exceed.

    Parameters
    ----------
    finish : "fill" takes further refinements while one fits; "none" stops at the hull point, whose gain never falls
        when the budget grows.
    spend_all : also take refinements that gain nothing while they fit, so that reachable counts are met to the unit.

    Examples
    --------
    >>> import hra
    >>> items = hra.Hierarchy.flat([3, 2, 2])
    >>> hra.solve(items, 5, gains=[6.0, 3.0, 2.0], traversal=hra.Hull()).cut
    array([0, 1])
    >>> hra.solve(items, 4, gains=[6.0, 3.0, 0.0], traversal=hra.Hull(finish="none")).cost
    3.0
    """

    finish: Literal["fill", "none"] = "fill"
    spend_all: bool = False

    def __post_init__(self) -> None:
        if self.finish not in ("fill", "none"):
            raise HraError(f"unknown finish {self.finish!r}", where="Hull", fix="use 'fill' or 'none'")
        if not isinstance(self.spend_all, (bool, np.bool_)):
            raise wrong_kind("spend_all", self.spend_all, bool, "use spend_all=True or spend_all=False")
        if self.spend_all and self.finish == "none":
            raise HraError("all of a budget is spent by filling", where="Hull", fix="use finish='fill'")

    def select(self, problem: Problem) -> Solution:
        """The hull point of the problem, filled up."""
        relaxed = relaxation(problem)
        selected = relaxed.selected
        if self.finish == "fill":
            selected = self._fill(problem, relaxed)
        return Solution(selected, relaxed.price, share=relaxed.share)

    def _fill(self, problem: Problem, relaxed: Relaxation) -> np.ndarray:
        """The best of up to three fills; further ones are tried only while there is something left to win."""
        best, best_gain = relaxed.selected, -1.0
        nothing = np.zeros_like(relaxed.selected)
        # Evaluated one by one: the slope of whole blocks, then each refinement's own ratio, then that from nothing.
        for start, by_slope in ((best, True), (best, False), (nothing, False)):
            priority = relaxed.priority if by_slope else problem.ratio
            among = relaxed.candidates if by_slope else None
            filled = complete(problem, start, priority, spend_all=self.spend_all, among=among)
            gain = total(problem.gain, filled)
            if gain > best_gain:
                best, best_gain = filled, gain
            if best_gain >= relaxed.upper_bound * (1 - _CLOSE_ENOUGH):
                break
        return best if relaxed.candidates is None else self._to_the_last(problem, best)

    def _to_the_last(self, problem: Problem, selected: np.ndarray) -> np.ndarray:
        """Take what still fits among the refinements that were not candidates."""
        left = problem.capacity - total(problem.cost, selected)
        if left < problem.hierarchy.least_unit_cost:
            return selected
        return complete(problem, selected, problem.ratio, spend_all=self.spend_all)
