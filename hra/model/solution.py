"""What a traversal answers to a problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.errors import HraError
from hra.model.arrays import ReadOnlyArrays
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


def no_bools(selected: Any, size: int, where: str) -> HraError:
    """The error for what is not bool [size]: positions, and numbers that count as bools, are taken for other sets."""
    array = isinstance(selected, np.ndarray)
    given = f"{selected.dtype} {list(selected.shape)}" if array else f"a {type(selected).__name__}"
    what = f"a traversal must return one bool per refinement, a bool array [{size}], got {given}"
    return HraError(what, where=where, fix="return hra.Solution(np.isin(np.arange(problem.gain.size), taken))")
