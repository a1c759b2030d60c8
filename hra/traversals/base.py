"""What a traversal is: problem in, solution out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from hra.problem import Problem


@dataclass(frozen=True, eq=False)
class Solution:
    """A down-closed set of refinements within the capacity, and what is known of all others.

    Attributes
    ----------
    selected : bool [R].
    price : lambda, gain per unit of ``problem.cost``, where the traversal has one: it proves a bound.
    tau : error that is accepted everywhere, where the traversal has one.
    share : float64 [E] or None, on graphs: how each refinement's surplus at the price is split over its predecessors.
    shortfall : no set within the capacity gains more than so much more than this one; None where only ``price`` and
        ``share`` bound it.
    upper_bound : no set within the capacity gains more; for traversals that know no shortfall. Rounding is theirs.
    restricted : whether shortfall and upper bound speak only of sets that keep further rules (minimum shares, limits).
    """

    selected: np.ndarray
    price: float | None = None
    tau: float | None = None
    share: np.ndarray | None = None
    shortfall: float | None = None
    upper_bound: float | None = None
    restricted: bool = False


class Traversal(ABC):
    """Chooses which refinements to take. Strategies are small frozen dataclasses that implement `select`.

    Attributes
    ----------
    objective : what is minimised: the "sum" of the errors that remain, or the "max".
    any_cost : whether `select` serves refinements that cost less than nothing. If not, `solve` joins those of a forest
        with what they follow; on graphs some may be left.
    """

    objective: ClassVar[Literal["sum", "max"]] = "sum"
    any_cost: ClassVar[bool] = False

    @abstractmethod
    def select(self, problem: Problem) -> Solution:
        """Choose a down-closed set whose ``problem.cost`` is at most ``problem.capacity``; both are whole numbers."""

    def solve(self, problem: Problem) -> Solution:
        """What `select` chooses, also where costs have no common unit or are less than 0 (see `reduction`)."""
        if problem.hierarchy.units.exact and not problem.hierarchy.shrinks:
            return self.select(problem)
        from hra.traversals.reduction import select_reduced

        return select_reduced(self, problem)
