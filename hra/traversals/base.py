"""What a traversal is: problem in, solution out."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np

from hra.errors import HraError, wrong_kind
from hra.model.arrays import is_number, numbers
from hra.model.precise import precise_total
from hra.model.problem import Problem
from hra.model.solution import Solution, no_bools
from hra.solvers.reduction import select_reduced

# An upper bound below the gain by more than rounding bounds nothing.
_ROUNDING = 1e-9


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
        return checked(self.select, problem, f"{type(self).__name__}.select")


def checked(choose: Callable[[Problem], Any], problem: Problem, where: str) -> Solution:
    """What ``choose`` answers to ``problem``, before solvers read it: it may be code of users.

    Numbers of NumPy become those of Python, shares an array. Code of others gets arrays of its own to write to.

    Raises
    ------
    HraError : no `Solution` of one bool per refinement, or a price, tau, shortfall or bound that cannot be one.
    ArrayError : shares that are not one number >= 0 per edge.
    """
    given = problem
    if not choose.__module__.startswith("hra."):
        # Others mark what they took in the gains, of which everything that is proven is a sum.
        given = replace(problem, gain=problem.gain.copy(), refinement_peak=lambda: problem.peak.copy())
    solution = choose(given)
    if not isinstance(solution, Solution):
        raise wrong_kind("what was selected", solution, Solution, f"return hra.Solution(selected) from {where}")
    taken, size = solution.selected, problem.gain.size
    if type(taken) is not np.ndarray or taken.dtype != np.bool_ or taken.shape != (size,):
        raise no_bools(taken, size, where)
    if type(solution.restricted) is not bool:
        raise wrong_kind("restricted", solution.restricted, bool, f"return hra.Solution(selected) from {where}")
    found: dict[str, Any] = {}
    for name in ("price", "tau", "shortfall", "upper_bound"):
        value = getattr(solution, name)
        if value is not None and not (type(value) is float and 0.0 <= value < math.inf):
            found[name] = _number(name, value, where)
    if solution.upper_bound is not None:
        gained = precise_total(problem.gain, taken)[0]
        if solution.upper_bound < gained * (1 - _ROUNDING):
            what = f"the upper bound {float(solution.upper_bound)!r} is less than the gain {gained!r}"
            raise HraError(what, where=f"{where}: upper_bound", fix="leave it out: the price bounds the gain")
    share, edges = solution.share, problem.hierarchy.predecessors[1].size
    if share is not None:
        if not (type(share) is np.ndarray and share.dtype == np.float64 and share.shape == (edges,)):
            share = found["share"] = numbers("share", share, edges)
        if not ((share >= 0) & (share < np.inf)).all():
            what = "a share is negative or not finite"
            raise HraError(what, where=f"{where}: share", fix="return the share of hra.relaxation, or leave it out")
    return replace(solution, **found) if found else solution


def _number(name: str, value: Any, where: str) -> float:
    """A number >= 0 that a solution states. A price may be infinite: nothing is worth it."""
    if not is_number(value):
        raise wrong_kind(name, value, float, f"return hra.Solution(selected, price) from {where}")
    most = math.inf if name in ("price", "tau") else math.nextafter(math.inf, 0.0)
    if not 0 <= value <= most:
        what = f"the {name.replace('_', ' ')} is {float(value)}"
        raise HraError(what, where=f"{where}: {name}", fix="return a number >= 0, or leave it out")
    return float(value)


def is_whole(value: Any) -> bool:
    """Whether an option is an integer of Python or NumPy, and no bool."""
    return is_number(value) and isinstance(value, (int, np.integer))
