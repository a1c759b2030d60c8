"""What limits the cut of a view: triangles, or pixels of error."""

from __future__ import annotations

import math
from typing import Literal

from hra.allocating.allocation import Allocation
from hra.camera import Camera
from hra.domains.meshes.asset.mesh_asset import MeshAsset
from hra.domains.meshes.selection.allocator import MeshAllocator
from hra.errors import BudgetTooSmall, HraError, InvalidBudget
from hra.model.metrics import ErrorMetric
from hra.traversals.base import Traversal
from hra.traversals.threshold import Threshold

BudgetKind = Literal["triangles", "pixels"]
_PIXELS = (1 / 16, 64.0)


class ViewBudget:
    """Limits of two kinds, of which one holds at a time.

    Parameters
    ----------
    asset : whose clusters are chosen.
    triangles : the most that are drawn; inf for no limit.
    pixels : the largest error, which then holds instead; None starts with the triangles.
    metric, traversal : as `MeshAllocator` takes them; the traversal is for budgets of triangles.

    Raises
    ------
    InvalidBudget, BudgetTooSmall : one of them is not positive, or less than the coarsest cut has.

    Attributes
    ----------
    kind : which limit holds; values : of both; ranges : the least and the largest that are of use, of both.
    """

    def __init__(
        self,
        asset: MeshAsset,
        triangles: float,
        pixels: float | None,
        metric: ErrorMetric | None,
        traversal: Traversal | None,
    ) -> None:
        hierarchy = asset.hierarchy
        self._asset = asset
        self._allocator = MeshAllocator(asset, metric, traversal)
        self.ranges = {"triangles": (float(hierarchy.base_cost), float(hierarchy.total_cost)), "pixels": _PIXELS}
        self.kind: BudgetKind = "triangles"
        self.values: dict[str, float] = {"triangles": math.inf, "pixels": 1.0}
        self.set("triangles", triangles)
        if pixels is not None:
            self.set("pixels", pixels)

    @property
    def value(self) -> float:
        """The limit that holds."""
        return self.values[self.kind]

    def set(self, kind: BudgetKind, value: float) -> None:
        """Let a limit of this kind hold.

        Raises
        ------
        HraError : another kind.
        InvalidBudget, BudgetTooSmall : not a positive number, or fewer triangles than the coarsest cut has.
        """
        if kind not in self.ranges:
            raise HraError(f"the limit {kind!r} is unknown", where="kind", fix=f"use {' or '.join(self.ranges)}")
        if not value > 0:
            raise InvalidBudget(f"a view cannot have {value} {kind}", where=kind, fix="pass a number > 0")
        least, most = self.ranges["triangles"]
        if kind == "triangles" and value < least:
            raise BudgetTooSmall(f"the coarsest cut has {least:,.0f} triangles, the budget {value:,.0f}", where=kind)
        self.kind, self.values[kind] = kind, min(float(value), most) if kind == "triangles" else float(value)

    def scale(self, factor: float) -> None:
        """Multiply the limit that holds, within its range."""
        least, largest = self.ranges[self.kind]
        self.set(self.kind, min(max(self.value * factor, least), largest))

    def allocate(self, camera: Camera) -> Allocation:
        """The best cut within the limit, for a camera; errors as `MeshAllocator.allocate`."""
        if self.kind == "triangles":
            return self._allocator.allocate(camera, self.value)
        within = MeshAllocator(self._asset, self._allocator.metric, Threshold(self.value))
        return within.allocate(camera, math.inf)
