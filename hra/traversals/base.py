"""What a traversal is: problem in, solution out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np

from hra.errors import wrong_kind
from hra.model.arrays import numbers
from hra.model.problem import Problem
from hra.model.solution import Solution, no_bools
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
        HraError : `select` returns something else than a `Solution` of one bool per refinement.
        """
        if problem.hierarchy.units.exact and not problem.hierarchy.shrinks:
            return self._select(problem)
        return select_reduced(self._select, problem, any_cost=self.any_cost)

    def _select(self, problem: Problem) -> Solution:
        """What `select` chooses, checked before solvers read it: it may be code of users."""
        solution, where = self.select(problem), f"{type(self).__name__}.select"
        if not isinstance(solution, Solution):
            raise wrong_kind("what was selected", solution, Solution, f"return hra.Solution(selected) from {where}")
        taken = solution.selected
        if type(taken) is not np.ndarray or taken.dtype != np.bool_ or taken.shape != problem.gain.shape:
            raise no_bools(taken, problem.gain.size, where)
        price, share = solution.price, solution.share
        if price is not None and type(price) is not float:
            if not is_number(price):
                raise wrong_kind("price", price, float, f"return hra.Solution(selected, price) from {where}")
            price = float(price)  # a number of NumPy is none to fractions
        edges = problem.hierarchy.predecessors[1].shape
        if share is not None and not (type(share) is np.ndarray and share.dtype == np.float64 and share.shape == edges):
            share = numbers("share", share, *edges)
        same = price is solution.price and share is solution.share
        return solution if same else replace(solution, price=price, share=share)


def is_number(value: Any) -> bool:
    """Whether an option is a number of Python or NumPy, and no bool."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    """Whether an option is an integer of Python or NumPy, and no bool."""
    return is_number(value) and isinstance(value, (int, np.integer))
