"""What a window on a mesh holds: where the eye is, what limits the cut, what is resident; events change it."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from hra.allocating.allocation import Allocation
from hra.camera import Camera
from hra.domains.meshes.asset.mesh_asset import MeshAsset
from hra.domains.meshes.asset.paging import drawable_refinements
from hra.domains.meshes.viewer.frame import ViewFrame, error_of, gap_of
from hra.domains.meshes.viewer.frame_colors import FrameColoring, check_coloring
from hra.domains.meshes.viewer.residence import BudgetKind, Residence, ViewBudget, pool_range
from hra.errors import BudgetTooSmall, HraError, check_kind
from hra.kernels.raster.context import Context
from hra.model.arrays import number_in
from hra.model.metrics import ErrorMetric
from hra.model.problem import check_number
from hra.traversals.base import Traversal
from hra.viewer import InContext, OrbitCamera, OrbitView


class ViewSession(OrbitView, InContext):
    """Frames of a mesh as somebody turns it, without a window: the window passes on its events and shows the frames.

    Each frame streams the pages that the pool holds for the eye, chooses the best cut within the budget, and draws
    what of it is there. While it is frozen, cut and culling stay as they are and only the eye moves.

    Parameters
    ----------
    asset : from `open_asset`.
    camera : where the eye begins, and the size of the picture.
    up : the upward direction [3]; None takes the camera's own.
    triangles : the most that a frame draws; pixels : the largest error that holds instead of it, None for none.
    pool_bytes : the most that pages take on the GPU; None for all of them at once, or for what its shaders can reach.
    upload_bytes : the most that a frame uploads, see `MeshStreamer`; None is a sixteenth of the pool, or a slot.
    coloring : see `Renderer.picture`.
    metric, traversal : how cuts are chosen, see `MeshAllocator`.
    context : None makes one without a window; one of the caller's is not released.

    Raises
    ------
    CameraError : the camera is not a pinhole that looks straight ahead.
    InvalidBudget, BudgetTooSmall : budget or pool are not positive, or do not hold the coarsest level.
    HraError : another kind of asset, metric, traversal or colouring.
    ArrayError : not even the coarsest level is what a shader of this driver can reach.
    MissingExtra, BackendUnavailable : there is no OpenGL 4.5, see `hra.kernels.raster.Context`.

    Attributes
    ----------
    orbit : where the eye is; viewport : (width, height) of the picture, pixels.
    budget : what limits the cut; change it by `set_budget`.
    coloring, frozen : as they are; pool_bytes : of the pool, None without one.
    settled : whether the next frame would be the same as the last one.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> meshes.build(hra.samples.path("skull.ply")).save("skull.hra")
    >>> asset = meshes.open_asset("skull.hra")
    >>> camera = hra.Camera.orbit(asset.bounds, azimuth=30, up=(0, 0, 1), viewport=(160, 120))
    >>> with meshes.ViewSession(asset, camera, triangles=10_000, pool_bytes=2**20) as session:
    ...     session.drag(40, 0)
    ...     while not session.settled:
    ...         frame = session.frame()
    ...     picture = session.picture()
    >>> frame.facts.triangles <= 10_000, frame.resident_bytes <= 2**20, picture.shape
    (True, True, (120, 160, 3))
    """

    def __init__(
        self,
        asset: MeshAsset,
        camera: Camera,
        *,
        up: Any = None,
        triangles: float = np.inf,
        pixels: float | None = None,
        pool_bytes: float | None = None,
        upload_bytes: float | None = None,
        coloring: FrameColoring = "shaded",
        metric: ErrorMetric | None = None,
        traversal: Traversal | None = None,
        context: Context | None = None,
    ) -> None:
        check_kind("asset", asset, MeshAsset, "pass meshes.open_asset('mesh.hra')")
        check_kind("camera", camera, Camera, "make one by hra.Camera.perspective or orbit")
        check_coloring(coloring)
        OrbitView.__init__(self, OrbitCamera.of(camera, asset.bounds, up), camera.viewport)
        self.budget = ViewBudget(asset, triangles, pixels, metric, traversal)
        self.frozen = False
        self.coloring: FrameColoring = coloring
        self._asset, self._metric, self._upload_bytes = asset, metric, upload_bytes
        self._allocation: Allocation | None = None
        self._last: ViewFrame | None = None
        self._residence: Residence | None = None
        InContext.__init__(self, context)
        with self._opening():
            self.pool_range = pool_range(asset, self._context)
            self.pool_bytes = self._first_pool(pool_bytes)
            self._reside()

    def set_budget(self, kind: BudgetKind, value: float) -> None:
        """Let this many "triangles" or "pixels" limit the cut; raises as `ViewBudget.set`."""
        self.budget.set(kind, value)
        self._change()

    def scale_budget(self, factor: float) -> None:
        """Multiply what limits the cut, within its range; HraError : no finite number above 0."""
        self.budget.scale(factor)
        self._change()

    def set_pool(self, pool_bytes: float) -> None:
        """Stream through a pool of another size, from the coarsest level on; culling is no longer frozen.

        Raises
        ------
        BudgetTooSmall : it does not hold the coarsest level. InvalidBudget : it is no number.
        """
        least, largest = self.pool_range
        if not check_number(pool_bytes) >= least:
            what = f"a pool of {pool_bytes:,.0f} bytes does not hold the coarsest level, which takes {least:,.0f}"
            raise BudgetTooSmall(what, where="pool_bytes")
        self.pool_bytes = min(pool_bytes, largest)
        self._reside()
        self.freeze(False)

    def scale_pool(self, factor: float) -> None:
        """Multiply the pool's size, within its range; HraError : no finite number above 0."""
        number_in("factor", factor, 0, np.inf, ends=False)
        least, largest = self.pool_range
        self.set_pool(min(max((self.pool_bytes or largest) * factor, least), largest))

    def color_by(self, coloring: FrameColoring) -> None:
        """Show other colours; HraError : the colouring is unknown."""
        check_coloring(coloring)
        self.coloring = coloring

    def freeze(self, frozen: bool) -> None:
        """Keep cut and culling of the last frame while the eye moves, or let them follow it again."""
        self.frozen = frozen and self._last is not None
        self._change()

    def resize(self, viewport: tuple[int, int]) -> None:
        """Draw pictures of another size; culling is no longer frozen. CameraError : the driver has no such pictures."""
        self._there.renderer.resize(viewport)
        self.viewport = viewport
        self.freeze(False)

    def frame(self) -> ViewFrame:
        """Draw one frame.

        Raises
        ------
        FileError : a page is damaged. BackendUnavailable : the context was lost, or memory ran out.
        """
        begin, camera = perf_counter(), self.orbit.camera(self.viewport)
        there = self._there
        if self.frozen and self._last is not None:
            there.renderer.draw_again(camera)
            frame, self.settled = replace(self._last, frozen=True, uploaded_bytes=0), True
        else:
            frame = self._draw(there, camera)
            self.settled = not there.queued
        there.renderer.finish()
        self._last = replace(frame, seconds=perf_counter() - begin)
        return self._last

    def picture(self) -> np.ndarray:
        """The last frame in the session's colours, uint8 [H, W, 3]; raises as `Renderer.picture`."""
        return self._there.renderer.picture(self.coloring)

    def blit(self, framebuffer: int = 0) -> None:
        """Copy that picture to a framebuffer of the caller's context, see `Renderer.blit`."""
        self._there.renderer.blit(self.coloring, framebuffer)

    def _free(self) -> None:
        if self._residence is not None:
            self._residence.close()
            self._residence = None

    @property
    def _there(self) -> Residence:
        if self._residence is None:
            raise HraError("the session is closed", where="ViewSession", fix="make a new one")
        return self._residence

    def _change(self) -> None:
        super()._change()
        self._allocation = None

    def _first_pool(self, pool_bytes: float | None) -> float | None:
        largest = self.pool_range[1]
        if pool_bytes is None:
            return largest if largest < len(self._asset.page_bytes) * self._asset.slot_bytes else None
        return min(check_number(pool_bytes), largest)

    def _reside(self) -> None:
        # The old pool goes first: two at once may be more than there is room for.
        self._free()
        held = self.pool_bytes, self._upload_bytes
        self._residence = Residence(self._asset, self._metric, self.viewport, *held, self._context)

    def _draw(self, there: Residence, camera: Camera) -> ViewFrame:
        renderer, before = there.renderer, there.renderer.uploaded_bytes
        there.step(camera)
        if self._allocation is None:
            self._allocation = self.budget.allocate(camera)
        allocation = self._allocation
        refined = drawable_refinements(self._asset, allocation.selected, there.resident)
        facts = renderer.draw(camera, np.flatnonzero(self._asset.hierarchy.active_nodes(refined)))
        stated = self.budget.kind == "triangles" and allocation.problem.additive
        gap = gap_of(allocation, refined) if stated else None
        return ViewFrame(
            facts=facts,
            error=error_of(allocation, refined),
            unit="px" if allocation.problem.unit == "px2" else "",
            gap=gap,
            resident_bytes=there.held_bytes,
            pool_bytes=renderer.pool_bytes,
            uploaded_bytes=renderer.uploaded_bytes - before,
            queued=there.queued,
            frozen=False,
            seconds=0.0,
        )
