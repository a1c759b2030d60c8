"""Cuts of many members over one forest: the best set at a price by level sweeps, and the price of a budget."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from hra.errors import ArrayError, BackendUnavailable
from hra.kernels.arrays import adopt, dtype_of, give_back, on_host, require_host

BUILT_IN = {"reference": "hra.kernels.cut_reference", "warp": "hra.kernels.cut_warp"}
_GAIN_DTYPES = (np.dtype(np.float32), np.dtype(np.float64))


@dataclass(frozen=True, eq=False)
class Forest:
    """Refinements in level order, the children of each side by side.

    Parameters
    ----------
    level_offsets : where each level begins, and last the number of refinements R.
    parent : int32 [R], -1 for the refinements of the first level.
    first_child : int32 [R + 1], the children of r are ``first_child[r] .. first_child[r + 1] - 1``.
    cost : float64 [R], >= 0.
    base_cost : cost of what is there before any refinement.
    """

    level_offsets: tuple[int, ...]
    parent: Any
    first_child: Any
    cost: Any
    base_cost: float = 0.0

    def __len__(self) -> int:
        """Number of refinements R."""
        return self.level_offsets[-1]

    @property
    def roots(self) -> int:
        """Number of refinements of the first level."""
        return self.level_offsets[1] if len(self.level_offsets) > 1 else 0

    @property
    def levels(self) -> list[tuple[int, int]]:
        """Begin and end of every level, coarse to fine."""
        return list(zip(self.level_offsets, self.level_offsets[1:], strict=False))

    def to(self, device: str) -> Forest:
        """The same forest as Warp arrays on ``device``; keep it where several calls share it."""
        wp = import_module(BUILT_IN["warp"]).wp
        parent, first_child, cost = (wp.array(a, device=device) for a in (self.parent, self.first_child, self.cost))
        return Forest(self.level_offsets, parent, first_child, cost, self.base_cost)


@dataclass(frozen=True, eq=False)
class Cut:
    """One set of refinements per member.

    Parameters
    ----------
    selected : bool [B, R], valid: no refinement without its parent.
    cost : float64 [B], the base included.
    gain : float64 [B].
    bound : float64 [B], best value of gain - price * (cost - base cost) at the prices of `tree_sweep`; for
        `price_search`, what no set within the capacity can exceed.
    price : float64 [B], gain per cost at which ``bound`` was found.
    """

    selected: Any
    cost: Any
    gain: Any
    bound: Any
    price: Any


def tree_sweep(forest: Forest, gain: Any, price: Any, backend: str = "auto") -> Cut:
    """The smallest set that maximises gain - price * cost, for every member.

    From fine to coarse, ``V = max(0, gain - price * cost + sum of V over the children)``; then, from coarse to fine, a
    refinement is taken if its V is positive and its parent was taken.

    Parameters
    ----------
    gain : [B, R] float32 or float64; NumPy, torch, Warp or any array with DLPack, on the host or a CUDA device.
    price : float64 [B] on the host or the same device, >= 0; inf takes what is free.
    backend : "auto", "reference" or "warp". CUDA arrays want a forest that was sent to their device by `Forest.to`.

    Raises
    ------
    ArrayError : another shape or dtype. BackendUnavailable : the backend is missing or cannot read the device.
    """
    return _run("tree_sweep", forest, gain, "price", price, backend)


def price_search(forest: Forest, gain: Any, capacity: Any, backend: str = "auto") -> Cut:
    """The largest set on the convex hull within each member's capacity, and an upper bound on what any set can gain.

    All members search at once, those that are done wait. The next price of a member is the slope between the two hull
    points that enclose its capacity, as in Dinkelbach's method; where that shrinks the bracket too slowly, the next one
    is bisected. On a CUDA device, one number per step is copied to the host: how many members are not done.

    Parameters
    ----------
    gain : as for `tree_sweep`; finite and >= 0, else the result is meaningless.
    capacity : float64 [B] on the host or the same device, >= 0: what may be spent on refinements.

    Raises
    ------
    ArrayError : another shape or dtype. BackendUnavailable : the backend is missing or cannot read the device.

    Notes
    -----
    For any price p >= 0, ``max(gain - p * cost) + p * capacity`` bounds the gain of all sets within the capacity
    (Everett 1963); the bound returned is the least of those met. Slopes are differences of gains: what gains less than
    the rounding of the total gain may be left out.
    """
    return _run("price_search", forest, gain, "capacity", capacity, backend)


def all_valid(gain: Any) -> bool:
    """Whether all of ``gain`` [B, R], as `tree_sweep` takes it, is finite and >= 0; copies one number from CUDA."""
    adopted = adopt(gain, "gain")
    return _load("reference" if on_host(adopted) else "warp").all_valid(adopted)


def _run(name: str, forest: Forest, gain: Any, label: str, per_member: Any, backend: str) -> Cut:
    rows, values = adopt(gain, "gain"), adopt(per_member, label)
    check_gain(rows, len(forest))
    if tuple(values.shape) != (rows.shape[0],) or dtype_of(values) != np.float64:
        what = f"{dtype_of(values)} of shape {tuple(values.shape)} is not float64 [{rows.shape[0]}]"
        raise ArrayError(what, where=f"argument {label}", fix="pass one float64 per row of gain")
    result = getattr(_choose(backend, rows), name)(forest, rows, values)
    return Cut(*(give_back(array, gain) for array in result))


def check_gain(gain: Any, size: int) -> None:
    """Raise :class:`ArrayError` unless the adopted array is float32 or float64 of shape [B, ``size``]."""
    if gain.ndim != 2 or gain.shape[1] != size:
        raise ArrayError(f"shape {tuple(gain.shape)} is not [B, {size}]", where="argument gain")
    if dtype_of(gain) not in _GAIN_DTYPES:
        fix = "convert it with astype(numpy.float64)"
        raise ArrayError(f"dtype {dtype_of(gain)} is not float32 or float64", where="argument gain", fix=fix)


def _choose(name: str, gain: Any) -> Any:
    """The backend called ``name``; "auto" is warp, on the host without it the reference, which is 7 times slower."""
    if name == "reference":
        require_host(gain, name)
    if name != "auto" or not on_host(gain):
        return _load("warp" if name == "auto" else name)
    try:
        return _load("warp")
    except BackendUnavailable:
        return _load("reference")


def _load(name: str) -> Any:
    if name not in BUILT_IN:
        fix = f"one of auto, {', '.join(BUILT_IN)}"
        raise BackendUnavailable(f"there is no backend {name!r}", where="argument backend", fix=fix)
    try:
        return import_module(BUILT_IN[name])
    except Exception as error:  # a broken driver may raise anything at import
        reason = f"the backend {name!r} cannot be loaded: {type(error).__name__}: {error}"
        raise BackendUnavailable(reason, where="argument backend", fix="use backend='auto'") from error
