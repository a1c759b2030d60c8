"""What a traversal is: problem in, solution out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal

import numpy as np

from hra.model.arrays import is_number
from hra.model.problem import Problem
from hra.model.solution import Solution, checked
from hra.solvers.reduction import select_reduced


class Traversal(ABC):
    """Chooses which refinements to take. Strategies are small frozen dataclasses that implement `select`.

    Attributes
    ----------
    objective : what is minimised: the "sum" of the errors that remain, or the "max".
    any_cost : whether `select` serves refinements that cost less than nothing. If not, `solve` joins those of a forest
        with what they follow; on graphs some may be left.

    Examples
    --------
    >>> import hra
    >>> class Nothing(hra.Traversal):
    ...     def select(self, problem):
    ...         return hra.Solution(problem.gain < 0)
    >>> hra.solve(hra.Hierarchy.flat([1, 1]), budget=1, gains=[1.0, 2.0], traversal=Nothing()).cost
    0.0
    """

    objective: ClassVar[Literal["sum", "max"]] = "sum"
    any_cost: ClassVar[bool] = False

    @abstractmethod
    def select(self, problem: Problem) -> Solution:
        """Choose a down-closed set whose ``problem.cost`` is at most ``problem.capacity``; both are whole numbers."""

    def solve(self, problem: Problem) -> Solution:
        """What `select` chooses, also where costs have no common unit or are below 0: see `hra.solvers.reduction`.

        Raises
        ------
        HraError : `select` returns something else than a `Solution` of one bool per refinement, or with a price, tau,
            share or bound that cannot be one.
        """
        if problem.hierarchy.units.exact and not problem.hierarchy.shrinks:
            return self._select(problem)
        return select_reduced(self._select, problem, any_cost=self.any_cost)

    def _select(self, problem: Problem) -> Solution:
        """What `select` chooses, checked."""
        return checked(self.select(problem), problem, f"{type(self).__name__}.select")


def is_whole(value: Any) -> bool:
    """Whether an option is an integer of Python or NumPy, and no bool."""
    return is_number(value) and isinstance(value, (int, np.integer))
