"""A budget of bytes for the file that is written, whatever its format makes of a mesh."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hra.allocating.allocation import Allocation
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh
from hra.domains.meshes.selection.allocator import MeshAllocator
from hra.errors import BudgetTooSmall, HraError

# A file of this share of the limit is full enough, and so many cuts are tried at most.
_FULL, _TRIES = 0.985, 14


@dataclass(frozen=True, eq=False)
class FittedFile:
    """A cut and the file that it becomes.

    Attributes
    ----------
    allocation : in triangles; content : the file, no longer than the limit.
    """

    allocation: Allocation
    content: bytes


@dataclass(frozen=True, eq=False)
class _Try:
    """The cut within so many triangles, and its file."""

    triangles: float
    fitted: FittedFile

    @property
    def size(self) -> int:
        return len(self.fitted.content)


def cut_within_bytes(
    allocator: MeshAllocator, context: Any, limit: int, encode: Callable[[TriangleMesh], bytes]
) -> FittedFile:
    """The cut of the most triangles whose file is no longer than ``limit`` bytes, or nearly that.

    What clusters take in a file is known only when it is written: they share vertices, and images and headers come on
    top. So cuts of several budgets in triangles are written, each guessed from those before; the file of the result was
    one of them.

    Parameters
    ----------
    allocator : of clusters whose costs are triangles.
    context : as for its ``allocate``.
    encode : a mesh as the bytes of a file, such as `hra.domains.meshes.files.write.encode`.

    Raises
    ------
    BudgetTooSmall : even the coarsest cut takes more.
    HraError : costs are not triangles; others as ``allocate`` and ``encode`` do.
    """
    hierarchy = allocator.hierarchy_for(context)
    if hierarchy.cost_unit != "triangles":
        raise HraError("files are fitted by triangles", where="cut_within_bytes", fix='use with_cost("triangles")')
    low, high = _attempt(allocator, context, hierarchy.base_cost, encode, None), None
    if low.size > limit:
        what = f"the coarsest cut takes {low.size:,} bytes as a file, the budget is {limit:,}"
        fix = f"use at least {low.size:,} bytes, or leave out images and attributes of the source"
        raise BudgetTooSmall(what, where="bytes", fix=fix)
    for _ in range(_TRIES):
        budget = _next(low, high, limit, hierarchy.total_cost)
        if budget is None:
            break
        found = _attempt(allocator, context, budget, encode, low)
        low, high = (found, high) if found.size <= limit else (low, found)
    return low.fitted


def _attempt(
    allocator: MeshAllocator,
    context: Any,
    budget: float,
    encode: Callable[[TriangleMesh], bytes],
    last: _Try | None,
) -> _Try:
    allocation = allocator.allocate(context, math.floor(budget))
    if last is not None and (allocation.selected == last.fitted.allocation.selected).all():
        return _Try(budget, last.fitted)
    return _Try(budget, FittedFile(allocation, encode(allocator.realize(allocation))))


def _next(low: _Try, high: _Try | None, limit: int, most: float) -> float | None:
    """Where to look between a file that fits and one that does not, None if there is nothing more to gain."""
    if low.size >= _FULL * limit or low.triangles >= most:
        return None
    if high is None:  # too far rather than too near, because then both ends are known
        return min(max(1.05 * low.triangles * limit / low.size, low.triangles + 1), most)
    width = high.triangles - low.triangles
    if width <= 1:
        return None
    share = (0.5 * (1 + _FULL) * limit - low.size) / (high.size - low.size)
    return low.triangles + width * min(max(share, 0.05), 0.95)
