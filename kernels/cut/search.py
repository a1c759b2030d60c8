"""The best sets at given prices, and the prices of given budgets."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from hra.errors import ArrayError
from hra.kernels.backends import adopt, check_floats, dtype_of, give_back_all, implementation
from hra.kernels.cut.forest import ForestCut, LevelForest

PACKAGE = "hra.kernels.cut"
# On the host, Warp is 7 times faster than the reference.
_OFFERED = ("warp", "reference")


def tree_sweep(forest: LevelForest, gain: Any, price: Any, backend: str = "auto") -> ForestCut:
    """The smallest set that maximises gain - price * cost, for every member.

    From fine to coarse, ``V = max(0, gain - price * cost + sum of V over the children)``; then, from coarse to fine, a
    refinement is taken if its V is positive and its parent was taken.

    Parameters
    ----------
    gain : [B, R] float32 or float64; NumPy, torch, Warp or any array with DLPack, on the host or a CUDA device.
    price : float64 [B] on the host or the same device, >= 0; inf takes what is free.
    backend : "auto", "reference" or "warp". CUDA arrays want a forest sent to their device by `LevelForest.to`.

    Raises
    ------
    ArrayError : another shape or dtype. BackendUnavailable : the backend is missing or cannot read the device.
    """
    return _run("tree_sweep", forest, gain, _adopted(forest, gain, "price", price), backend)


def price_search(forest: LevelForest, gain: Any, capacity: Any, backend: str = "auto") -> ForestCut:
    """The largest set on the convex hull within each member's capacity, and an upper bound on what any set can gain.

    All members search at once, those that are done wait. The next price of a member is the slope between the two hull
    points that enclose its capacity, as in Dinkelbach's method; where that shrinks the bracket too slowly, the next one
    is bisected. On a CUDA device, one number per step is copied to the host: how many members are not done.

    Parameters
    ----------
    gain : as for `tree_sweep`; finite and >= 0.
    capacity : float64 [B] on the host or the same device, >= 0: what may be spent on refinements.

    Raises
    ------
    ArrayError : another shape, dtype or range. BackendUnavailable : the backend is missing or cannot read the device.

    Notes
    -----
    For any price p >= 0, ``max(gain - p * cost) + p * capacity`` bounds the gain of all sets within the capacity
    (Everett 1963); the bound returned is the least of those met, and R 2**-49 of the sum of all gains more, so
    that rounding cannot take it below the truth. Slopes are differences of gains: what gains less than
    the rounding of the total gain may be left out.
    """
    return _run("price_search", forest, gain, _checked(forest, gain, capacity), backend)


def hull_points(
    forest: LevelForest,
    gain: Any,
    capacity: Any,
    slope_cost: Any,
    *,
    fill: bool = True,
    spend_all: bool = False,
    backend: str = "auto",
) -> ForestCut:
    """What `hra.Hull` chooses for every member, to the bit: the hull point, filled with what still fits if ``fill``.

    A member is one thread from the first slope to the last refinement, with 54 bytes of memory per refinement: for many
    members of some thousands of refinements, not for a few large ones.

    Parameters
    ----------
    forest, gain : as for `tree_sweep`; gains are finite and >= 0.
    capacity : float64 [B] on the host or the same device, >= 0: what may be spent on refinements.
    slope_cost : float64 [R], costs to divide by, > 0: see `hra.Hierarchy.slope_cost`.
    spend_all : also take refinements that gain nothing while they fit.

    Raises
    ------
    ArrayError : another shape, dtype or range. BackendUnavailable : the backend is missing or cannot read the device.
    """
    rows, values = _checked(forest, gain, capacity)
    module = implementation(PACKAGE, backend, rows, _OFFERED)
    found = module.hull_points(forest, rows, values, slope_cost, fill, spend_all)
    selected, cost, gained, price = give_back_all(found, gain)
    return ForestCut(selected, cost, gained, None, price)


def all_valid(gain: Any, largest: float = sys.float_info.max) -> bool:
    """Whether all of ``gain`` [B, R] is in 0 .. ``largest``, so that it is finite; copies one number from CUDA."""
    adopted = adopt(gain, "gain")
    return implementation(PACKAGE, "auto", adopted, ("reference", "warp")).all_valid(adopted, largest)


def _checked(forest: LevelForest, gain: Any, capacity: Any) -> tuple[Any, Any]:
    rows, values = _adopted(forest, gain, "capacity", capacity)
    if not all_valid(rows):
        raise ArrayError("a gain is negative, infinite or not a number", where="argument gain", fix="pass gains >= 0")
    if not all_valid(values.reshape((rows.shape[0], 1)), math.inf):
        raise ArrayError("a capacity is negative or not a number", where="argument capacity", fix="pass numbers >= 0")
    return rows, values


def _run(name: str, forest: LevelForest, gain: Any, given: tuple[Any, Any], backend: str) -> ForestCut:
    rows, values = given
    result = getattr(implementation(PACKAGE, backend, rows, _OFFERED), name)(forest, rows, values)
    return ForestCut(*give_back_all(result, gain))


def _adopted(forest: LevelForest, gain: Any, label: str, per_member: Any) -> tuple[Any, Any]:
    rows, values = adopt(gain, "gain"), adopt(per_member, label)
    check_gain(rows, len(forest))
    if tuple(values.shape) != (rows.shape[0],) or dtype_of(values) != np.float64:
        what = f"{dtype_of(values)} of shape {tuple(values.shape)} is not float64 [{rows.shape[0]}]"
        raise ArrayError(what, where=f"argument {label}", fix="pass one float64 per row of gain")
    return rows, values


def check_gain(gain: Any, size: int) -> None:
    """Raise :class:`ArrayError` unless the adopted array is float32 or float64 of shape [B, ``size``]."""
    if gain.ndim != 2 or gain.shape[1] != size:
        raise ArrayError(f"shape {tuple(gain.shape)} is not [B, {size}]", where="argument gain")
    check_floats(gain, "gain", "float64")
