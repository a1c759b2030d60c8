"""What a traversal answers to a problem."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hra.errors import HraError, wrong_kind
from hra.model.arrays import ReadOnlyArrays, is_number, numbers
from hra.model.precise import precise_total
from hra.model.problem import Problem
from hra.model.short_repr import ShortRepr


@dataclass(frozen=True, eq=False, repr=False)
class Solution(ReadOnlyArrays, ShortRepr):
    """A down-closed set of refinements within the capacity, and what is known of all others.

    Attributes
    ----------
    selected : bool [R].
    price : gain per unit of ``problem.cost``, where the traversal has one: it proves a bound.
    tau : error that is accepted everywhere, where the traversal has one.
    share : float64 [E] or None, on graphs: how each refinement's surplus at the price is split over its predecessors.
    shortfall : no set within the capacity gains more than so much more than this one; None where only ``price`` and
        ``share`` bound it.
    upper_bound : no set within the capacity gains more; for traversals that know no shortfall. Rounding is theirs.
    restricted : whether shortfall and upper bound speak only of sets that keep further rules (minimum shares, limits).

    Examples
    --------
    >>> import numpy as np, hra
    >>> solution = hra.Solution(np.array([True, False]), price=1.0)
    >>> solution.selected, solution.shortfall
    (array([ True, False]), None)
    """

    selected: np.ndarray
    price: float | None = None
    tau: float | None = None
    share: np.ndarray | None = None
    shortfall: float | None = None
    upper_bound: float | None = None
    restricted: bool = False


# An upper bound below the gain by more than rounding bounds nothing.
_ROUNDING = 1e-9


def checked(solution: Any, problem: Problem, where: str) -> Solution:
    """What a traversal answered to ``problem``, before solvers read it: it may be code of users.

    Numbers of NumPy become those of Python, shares an array.

    Raises
    ------
    HraError : no `Solution` of one bool per refinement, or a price, tau, shortfall or bound that cannot be one.
    ArrayError : shares that are not one number >= 0 per edge.
    """
    if not isinstance(solution, Solution):
        raise wrong_kind("what was selected", solution, Solution, f"return hra.Solution(selected) from {where}")
    taken, size = solution.selected, problem.gain.size
    if type(taken) is not np.ndarray or taken.dtype != np.bool_ or taken.shape != (size,):
        raise no_bools(taken, size, where)
    if type(solution.restricted) is not bool:
        raise wrong_kind("restricted", solution.restricted, bool, f"return hra.Solution(selected) from {where}")
    found = {name: _number(solution, name, where) for name in ("price", "tau", "shortfall", "upper_bound")}
    if found["upper_bound"] is not None:
        gained = precise_total(problem.gain, taken)[0]
        if found["upper_bound"] < gained * (1 - _ROUNDING):
            what = f"the upper bound {found['upper_bound']!r} is less than the gain {gained!r}"
            raise HraError(what, where=f"{where}: upper_bound", fix="leave it out: the price bounds the gain")
    share, edges = solution.share, problem.hierarchy.predecessors[1].size
    if share is not None:
        if not (type(share) is np.ndarray and share.dtype == np.float64 and share.shape == (edges,)):
            share = numbers("share", share, edges)
        if not ((share >= 0) & (share < np.inf)).all():
            what = "a share is negative or not finite"
            raise HraError(what, where=f"{where}: share", fix="return the share of hra.relaxation, or leave it out")
    same = share is solution.share and all(value is getattr(solution, name) for name, value in found.items())
    return solution if same else replace(solution, share=share, **found)


def _number(solution: Solution, name: str, where: str) -> float | None:
    """A number >= 0 that a solution states; None where it states none. A price may be infinite: nothing is worth it."""
    value = getattr(solution, name)
    if value is None or (type(value) is float and 0.0 <= value < math.inf):
        return value
    if not is_number(value):
        raise wrong_kind(name, value, float, f"return hra.Solution(selected, price) from {where}")
    most = math.inf if name in ("price", "tau") else math.nextafter(math.inf, 0.0)
    if not 0 <= value <= most:
        what = f"the {name.replace('_', ' ')} is {float(value)}"
        raise HraError(what, where=f"{where}: {name}", fix="return a number >= 0, or leave it out")
    return float(value)


def no_bools(selected: Any, size: int, where: str) -> HraError:
    """The error for what is not bool [size]: positions, and numbers that count as bools, are taken for other sets."""
    array = isinstance(selected, np.ndarray)
    given = f"{selected.dtype} {list(selected.shape)}" if array else f"a {type(selected).__name__}"
    what = f"a traversal must return one bool per refinement, a bool array [{size}], got {given}"
    return HraError(what, where=where, fix="return hra.Solution(np.isin(np.arange(problem.gain.size), taken))")
