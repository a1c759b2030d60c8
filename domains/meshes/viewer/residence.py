"""What limits a view: what of the mesh is on the GPU, and the triangles or pixels of error of its cut.

On the GPU is all of a mesh, or what is streamed through a pool.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from hra.allocating.allocation import Allocation
from hra.camera import Camera
from hra.domains.meshes.allocator import MeshAllocator
from hra.domains.meshes.asset.mesh_asset import MeshAsset
from hra.domains.meshes.asset.mesh_streamer import MeshStreamer
from hra.domains.meshes.asset.paging import PageAllocator
from hra.domains.meshes.viewer.renderer import Renderer
from hra.errors import BudgetTooSmall, InvalidBudget, check_choice
from hra.kernels.raster.context import Context
from hra.model.arrays import is_number, number_in
from hra.model.metrics import ErrorMetric
from hra.traversals.base import Traversal
from hra.traversals.threshold import Threshold

# Of the pool, so that a frame waits for few pages.
_UPLOADED = 1 / 16
BudgetKind = Literal["triangles", "pixels"]
_PIXELS = (1 / 16, 64.0)


class Residence:
    """A renderer of one mesh and, with a pool, the streamer that feeds it.

    Parameters
    ----------
    asset : what is drawn; metric : by which pages are chosen.
    viewport : (width, height) in pixels.
    pool_bytes : the most that its pages take, None for all of them.
    upload_bytes : the most that one frame uploads; None is a sixteenth of the pool, but at least one slot.
    context : where it is drawn.

    Raises
    ------
    InvalidBudget, BudgetTooSmall : the pool is not a positive number, or does not hold the coarsest level.
    ArrayError, BackendUnavailable : see `Renderer`.

    Attributes
    ----------
    renderer : what draws; resident : bool [P], pages that are there; queued : how many are waited for.
    held_bytes : of the last frame, at its fullest.
    """

    def __init__(
        self,
        asset: MeshAsset,
        metric: ErrorMetric | None,
        viewport: tuple[int, int],
        pool_bytes: float | None,
        upload_bytes: float | None,
        context: Context,
    ) -> None:
        self._streamer = None
        if pool_bytes is not None:
            if not pool_bytes > 0:
                raise InvalidBudget(f"a pool cannot have {pool_bytes} bytes", where="pool_bytes")
            upload = max(_UPLOADED * pool_bytes, asset.slot_bytes) if upload_bytes is None else upload_bytes
            self._streamer = MeshStreamer(PageAllocator(asset, metric), pool_bytes, upload_bytes=int(upload))
        self.renderer = Renderer(asset, viewport, pool_bytes=pool_bytes, reversed_depth=True, context=context)
        self.resident = np.full(len(asset.page_bytes), pool_bytes is None)
        self.queued, self.held_bytes = 0, self.renderer.pool_bytes

    def step(self, camera: Camera) -> None:
        """Let the pages of one frame come and go.

        Raises
        ------
        FileError : a page is damaged.
        """
        if self._streamer is None:
            return
        update = self._streamer.step(camera)
        self.renderer.load(update)
        self.resident, self.queued, self.held_bytes = update.resident, len(update.queued), update.held_bytes

    def close(self) -> None:
        """Free what it holds on the GPU."""
        if self._streamer is not None:
            self._streamer.close()
        self.renderer.close()


def pool_range(asset: MeshAsset, context: Context) -> tuple[float, float]:
    """The least and the largest pool of a mesh, bytes: its coarsest level, and all that a shader can reach."""
    reach = context.limit("GL_MAX_SHADER_STORAGE_BLOCK_SIZE")
    all_pages = len(asset.page_bytes) * asset.slot_bytes
    least = PageAllocator(asset).least_bytes
    return float(least), float(max(min(all_pages, reach), least))


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
        check_choice("kind", kind, self.ranges)
        if not (is_number(value) and value > 0):
            raise InvalidBudget(f"a view cannot have {value!r:.80} {kind}", where=kind, fix="pass a number > 0")
        least, most = self.ranges["triangles"]
        if kind == "triangles" and value < least:
            raise BudgetTooSmall(f"the coarsest cut has {least:,.0f} triangles, the budget {value:,.0f}", where=kind)
        self.kind, self.values[kind] = kind, min(float(value), most) if kind == "triangles" else float(value)

    def scale(self, factor: float) -> None:
        """Multiply the limit that holds, within its range; HraError : no finite number above 0."""
        number_in("factor", factor, 0, math.inf, ends=False)
        least, largest = self.ranges[self.kind]
        self.set(self.kind, min(max(self.value * factor, least), largest))

    def allocate(self, camera: Camera) -> Allocation:
        """The best cut within the limit, for a camera; errors as `MeshAllocator.allocate`."""
        if self.kind == "triangles":
            return self._allocator.allocate(camera, self.value)
        within = MeshAllocator(self._asset, self._allocator.error_metric(camera), Threshold(self.value))
        return within.allocate(camera, math.inf)
