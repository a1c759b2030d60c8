"""What of a mesh is on the GPU while it is viewed: all of it, or what is streamed through a pool."""

from __future__ import annotations

import numpy as np

from hra.camera import Camera
from hra.domains.meshes.asset.mesh_asset import MeshAsset
from hra.domains.meshes.asset.mesh_streamer import MeshStreamer
from hra.domains.meshes.asset.page_allocator import PageAllocator
from hra.domains.meshes.viewer.renderer import Renderer
from hra.errors import InvalidBudget
from hra.kernels.raster.context import Context
from hra.model.metrics import ErrorMetric

# Of the pool, so that a frame waits for few pages.
_UPLOADED = 1 / 16


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
