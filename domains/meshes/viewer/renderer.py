"""Placed meshes on the screen: what an allocation chose, drawn by OpenGL without a window or in the caller's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hra.camera import Camera
from hra.domains.meshes.allocator import Clusters
from hra.domains.meshes.asset.mesh_streamer import MeshUpdate
from hra.domains.meshes.scene.placements import Placements
from hra.domains.meshes.scene.scene import Scene
from hra.domains.meshes.scene.scene_allocation import SceneAllocation
from hra.domains.meshes.viewer.frame_colors import FrameColoring, FrameColors, check_coloring
from hra.domains.meshes.viewer.paged import PagedMesh, cluster_boxes_of, paged, slot_content
from hra.errors import ArrayError, BudgetTooSmall, CameraError, HraError, check_kind
from hra.kernels.raster.clusters.placed_cuts import PlacedCuts
from hra.kernels.raster.clusters.renderer import ClusterRenderer, Culling, FrameFacts, VisibleClusters
from hra.kernels.raster.clusters.shading import Shading
from hra.kernels.raster.clusters.store import ClusterStore
from hra.kernels.raster.context import Context
from hra.model.arrays import COUNTS, whole_in
from hra.model.problem import check_number
from hra.viewer import Drawer


class Renderer(Drawer):
    """Draws cuts of placed meshes: culled on the GPU by frustum and occlusion, each frame whole.

    Triangles lie in slots on the GPU and cuts as a bit for every cluster of every copy; what did not change does not go
    there again. Materials count with base colour, texture and vertex colours; alpha is ignored, and both sides of
    triangles are drawn.

    Parameters
    ----------
    placed : a mesh, a `Scene`, or pairs of a mesh and its placements [B, 4, 4] as a scene takes them.
    viewport : (width, height) in pixels, that of all cameras.
    pool_bytes : the most that the slots of each mesh take; pages are then loaded by `load`, from a `MeshStreamer`. None
        loads everything at once.
    reversed_depth : whether cameras have reversed depth.
    context : None makes one without a window; one of the caller's is not released.

    Raises
    ------
    HraError : no meshes, see `Scene`.
    BudgetTooSmall : the pool has no slot.
    ArrayError : the meshes are more than a shader of this driver can reach.
    MissingExtra, BackendUnavailable : there is no OpenGL 4.5, see `hra.kernels.raster.Context`.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> skull = meshes.build(hra.samples.path("skull.ply"))
    >>> camera = hra.Camera.orbit(skull.bounds, azimuth=30, up=(0, 0, 1), viewport=(320, 240))
    >>> cut = meshes.MeshAllocator(skull).allocate(camera, budget=5_000).cut
    >>> with meshes.Renderer(skull, camera.viewport) as renderer:
    ...     facts = renderer.draw(camera, cut)
    ...     picture = renderer.picture("cluster")
    >>> facts.triangles <= 5_000, picture.shape
    (True, (240, 320, 3))
    """

    def __init__(
        self,
        placed: Clusters | Scene | Sequence[tuple[Clusters, Any]],
        viewport: tuple[int, int],
        *,
        pool_bytes: float | None = None,
        reversed_depth: bool = False,
        context: Context | None = None,
    ) -> None:
        self._placed = _placements(placed)
        self._sources: tuple[PagedMesh, ...] = tuple(paged(mesh) for mesh in self._placed.meshes)
        super().__init__(context)
        self._camera: Camera | None = None
        self._drawing: ClusterRenderer | None = None
        self._colors: FrameColors | None = None
        with self._opening():
            self._store = ClusterStore(self._context, [_geometry(source, pool_bytes) for source in self._sources])
            self._cuts = PlacedCuts(self._store, self._placed.mesh_of, self._placed.matrices)
            self._drawing = ClusterRenderer(self._cuts, viewport, reversed_depth)
            if pool_bytes is None:
                self._load_all()

    @property
    def uploaded_bytes(self) -> int:
        """What went to the GPU so far: pages, placements and cuts."""
        return self._store.uploaded_bytes + self._cuts.uploaded_bytes

    @property
    def pool_bytes(self) -> int:
        """What all slots take."""
        return self._store.pool_bytes

    def load(self, update: MeshUpdate, mesh: int = 0) -> None:
        """Do what a streamer asks for: drop its evictions, upload its loads.

        Parameters
        ----------
        mesh : which of the meshes, in the order in which they were placed.

        Raises
        ------
        FileError : a page that the streamer did not read itself is damaged.
        HraError : no such mesh, or something else than an update.
        """
        check_kind("update", update, MeshUpdate, "pass what MeshStreamer.step(camera) returned")
        mesh = whole_in("mesh", mesh, range(len(self._sources)))
        for page in update.evictions.tolist():
            self._store.drop(mesh, page)
        for page in update.loads.tolist():
            self._load(mesh, page, update.pages.get(page))

    def resize(self, viewport: tuple[int, int]) -> None:
        """Go on with cameras of another viewport; what lies on the GPU stays there, and nothing is drawn yet.

        Raises
        ------
        CameraError : a size that this driver cannot draw to.
        """
        drawing = ClusterRenderer(self._cuts, viewport, self._drawer.reversed_depth)
        for held in (self._colors, self._drawing):
            if held is not None:
                held.release()
        self._drawing, self._colors, self._camera = drawing, None, None

    def move(self, placements: Any) -> None:
        """Put the copies elsewhere, placements [B, 4, 4] in their order; raises as `Scene`."""
        self._cuts.move(placements)

    def draw(
        self,
        camera: Camera,
        cut: np.ndarray | Sequence[np.ndarray] | SceneAllocation,
        culling: Culling = "occlusion",
        *,
        timed: bool = False,
    ) -> FrameFacts:
        """One frame.

        Parameters
        ----------
        camera : in world space, with this renderer's viewport and kind of depth.
        cut : clusters [K] that every copy draws, or a list with those of each copy, or what a scene of the same copies
            allocated.
        culling : "occlusion" leaves out what is out of view or hidden, "frustum" what is out of view, "none" nothing.
        timed : wait for each step and tell how long it took.

        Raises
        ------
        CameraError : a camera of another viewport or kind of depth.
        ArrayError : a cluster whose page is not there. HraError : something else in the place of the camera or the cut.
        BackendUnavailable : the context was lost, or memory ran out.
        """
        self._check(camera)
        self._cuts.draw(*self._by_copy(cut))
        self._camera = camera
        return self._drawer.draw(camera.projection @ camera.view, culling, timed=timed)

    def draw_again(self, camera: Camera) -> None:
        """What the last frame drew, from elsewhere: its culling frozen; raises as `draw`."""
        self._check(camera)
        self._camera = camera
        self._drawer.draw_again(camera.projection @ camera.view)

    def picture(self, coloring: FrameColoring = "shaded") -> np.ndarray:
        """The last frame in colours, uint8 [H, W, 3].

        Parameters
        ----------
        coloring : "shaded" by materials; "cluster", "level" or "error"; "overdraw", how often each pixel was drawn.

        Raises
        ------
        HraError : another colouring, or nothing was drawn yet.
        ImageError : a texture is damaged or too large.
        MissingExtra : levels and errors need Matplotlib's colours.
        """
        return self._paint(coloring).read()

    def blit(self, coloring: FrameColoring = "shaded", framebuffer: int = 0) -> None:
        """The last frame in colours, as `picture`, copied to a framebuffer on the GPU: it does not pass the host.

        Parameters
        ----------
        framebuffer : its OpenGL name in the caller's context; 0 is the window. At least of the viewport's size; the
            picture's last row goes to its row 0, which OpenGL has at the bottom.
        """
        self._paint(coloring).copy_to(framebuffer)

    def visible(self) -> VisibleClusters:
        """What each pixel of the last frame shows: copy, cluster, triangle and depth."""
        return self._drawer.read()

    def drawn(self) -> tuple[np.ndarray, np.ndarray]:
        """Copies and their clusters that the last frame drew, int64 each."""
        return self._drawer.drawn_pairs()

    def _free(self) -> None:
        for held in (self._colors, self._drawing, getattr(self, "_cuts", None), getattr(self, "_store", None)):
            if held is not None:
                held.release()

    @property
    def _drawer(self) -> ClusterRenderer:
        if self._drawing is None or self._context.released:
            raise HraError("the renderer is closed", where="Renderer", fix="make a new one")
        return self._drawing

    def _paint(self, coloring: FrameColoring) -> Shading:
        check_coloring(coloring)
        if self._camera is None:
            raise HraError("nothing was drawn yet", where="picture", fix="call draw before")
        if self._colors is None:
            materials = [source.materials for source in self._sources]
            self._colors = FrameColors(self._drawer, self._placed.meshes, materials)
        return self._colors.paint(coloring, self._camera.position)

    def _check(self, camera: Camera) -> None:
        check_kind("camera", camera, Camera, "make one by hra.Camera.perspective or orbit")
        drawer = self._drawer
        if tuple(camera.viewport) != tuple(drawer.target.size):
            what = f"the camera's viewport is {camera.viewport}, the renderer's {drawer.target.size}"
            raise CameraError(what, where="camera", fix="make a renderer for each viewport")
        if camera.reversed_depth != drawer.reversed_depth:
            fix = f"make the renderer with reversed_depth={camera.reversed_depth}"
            raise CameraError("the camera has the other kind of depth", where="camera", fix=fix)

    def _by_copy(
        self, cut: np.ndarray | Sequence[np.ndarray] | SceneAllocation
    ) -> tuple[np.ndarray, Sequence[np.ndarray]]:
        if isinstance(cut, SceneAllocation):
            if len(cut.drawn) != len(self._cuts):
                raise HraError("the allocation is of another scene", where="cut", fix="place the same copies")
            return np.flatnonzero(cut.drawn), cut.cuts
        count = len(self._cuts)
        check_kind("cut", cut, (np.ndarray, list, tuple), "pass allocation.cut, or a list with the cut of each copy")
        cuts = [cut] * count if isinstance(cut, np.ndarray) else list(cut)
        if any(np.ndim(one) != 1 for one in cuts):
            fix = "pass allocation.cut, or a list with the cut of each copy"
            raise ArrayError("the clusters of a copy are numbers [K]", where="cut", fix=fix)
        if len(cuts) != count:
            raise HraError(f"{len(cuts)} cuts for {count} copies", where="cut", fix="pass one for each, or an array")
        return np.arange(count), cuts

    def _load_all(self) -> None:
        for mesh, geometry in enumerate(self._store.meshes):
            for page in range(len(geometry.page_vertices)):
                self._load(mesh, page, None)

    def _load(self, mesh: int, page: int, content: Any) -> None:
        content = content or self._sources[mesh].read_page(page)
        packed = slot_content(content, self._store.meshes[mesh].grid)
        self._store.load(mesh, page, packed, cluster_boxes_of(content))


def _placements(placed: Clusters | Scene | Sequence[tuple[Clusters, Any]]) -> Placements:
    if isinstance(placed, Scene):
        return placed.copies
    return Placements.of(placed if isinstance(placed, Sequence) else [(placed, np.eye(4)[None])])


def _geometry(source: PagedMesh, pool_bytes: float | None) -> Any:
    whole = source.geometry(None)
    if pool_bytes is None:
        return whole
    slots = int(min(check_number(pool_bytes), COUNTS.stop) // whole.slot_bytes)
    if slots < 1:
        raise BudgetTooSmall(f"a pool of {pool_bytes:,} bytes has no slot of {whole.slot_bytes:,}", where="pool_bytes")
    return source.geometry(slots)
