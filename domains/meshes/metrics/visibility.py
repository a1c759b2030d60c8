"""Hidden clusters: left out when a cut is drawn, and worth nothing when a budget is shared out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, final

import numpy as np

from hra.camera.occlusion import Occlusion
from hra.camera.view import View, views_of
from hra.domains.meshes.mesh.cluster_mesh import ClusterMesh
from hra.domains.meshes.mesh.ragged import take_runs, vertex_boxes
from hra.domains.meshes.metrics.displacement import (
    mean_squares,
    source_pixels,
    source_weights,
    sources_of,
)
from hra.domains.meshes.metrics.screen_error import ErrorName, ScreenError, errors_in_view
from hra.errors import MetricError, check_kind
from hra.model.arrays import indices
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric

_CLUSTERS = "pass meshes.build(mesh), or load_clusters(path)"


def cluster_boxes(cluster_mesh: ClusterMesh) -> np.ndarray:
    """Axis-aligned boxes around the triangles of all clusters, float32 [N, 2, 3], object units.

    They are smaller than the nested boxes ("box"), which enclose all that a cluster was simplified from, and suffice
    where triangles are drawn.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> skull = meshes.build(hra.samples.path("skull.ply"))
    >>> boxes = meshes.cluster_boxes(skull)
    >>> bool((boxes[:, 0] >= skull.hierarchy.attribute("box")[:, 0]).all())
    True
    """
    check_kind("cluster_mesh", cluster_mesh, ClusterMesh, _CLUSTERS)
    return vertex_boxes(cluster_mesh.positions, cluster_mesh.indices, cluster_mesh.offsets)


def visible_clusters(cluster_mesh: ClusterMesh, clusters: np.ndarray, occlusion: Occlusion) -> np.ndarray:
    """The ``clusters`` (numbers [K], usually a cut) that may be visible, in order: what is left to draw.

    Conservative: leaving out the others changes no pixel of a frame that contains what is in the depth buffer.

    Parameters
    ----------
    occlusion : with a camera in the mesh's coordinates; `Occlusion.seen_from` brings one there from the world's.

    Raises
    ------
    ArrayError : not numbers of clusters. HraError : something else in the place of the mesh or the buffer.

    Examples
    --------
    >>> import numpy as np, hra
    >>> from hra.camera.occlusion import Occlusion
    >>> from hra.domains import meshes
    >>> skull = meshes.build(hra.samples.path("skull.ply"))
    >>> camera = hra.Camera.orbit(skull.bounds, azimuth=30, up=(0, 0, 1), viewport=(64, 48))
    >>> nothing, wall = (Occlusion.of(np.full((48, 64), depth, np.float32), camera) for depth in (1.0, 0.0))
    >>> cut = meshes.MeshAllocator(skull).allocate(camera, budget=2_000).cut
    >>> len(meshes.visible_clusters(skull, cut, nothing)) == len(cut), len(meshes.visible_clusters(skull, cut, wall))
    (True, 0)
    """
    check_kind("cluster_mesh", cluster_mesh, ClusterMesh, _CLUSTERS)
    check_kind("occlusion", occlusion, Occlusion, "pass hra.camera.Occlusion.of(depth, camera)")
    clusters = indices("clusters", clusters, 0, len(cluster_mesh.offsets) - 1)
    boxes = vertex_boxes(cluster_mesh.positions, *take_runs(cluster_mesh.indices, cluster_mesh.offsets, clusters))
    return clusters[occlusion.visible_boxes(boxes)]


@final
@dataclass(frozen=True, eq=False)
class VisibleScreenError(ErrorMetric):
    """`ScreenError` of what depth buffers do not hide; the context is a `Camera` or `View`, or one for each buffer.

    Hidden *source* clusters, found by their boxes, count as nothing before errors and weights are passed upwards.
    Testing every cluster by itself would not do: the box of a coarse cluster sticks out where all that it stands for is
    hidden, and refining it would seem to remove its whole error.

    Not additive, because what is hidden depends on how the occluders are drawn, and the buffer is of one way to draw
    them: allocations are ``heuristic``. Thresholds hold for points of the source that the buffer shows, not for the
    part of a coarse cluster that sticks out from behind an occluder.

    Parameters
    ----------
    occlusion : of the last frame, say, with a camera in the mesh's coordinates; for a `Scene` in the world's. A tuple
        where the context is several views (two eyes, a light): the buffer of each, None for one without.
    error : as in `ScreenError`; budgets see the sum of the views' errors.

    Raises
    ------
    MetricError : another error. HraError : something else in the place of a buffer.

    Examples
    --------
    >>> import numpy as np, hra
    >>> from hra.camera.occlusion import Occlusion
    >>> from hra.domains import meshes
    >>> skull = meshes.build(hra.samples.path("skull.ply"))
    >>> camera = hra.Camera.orbit(skull.bounds, azimuth=30, up=(0, 0, 1), viewport=(64, 48))
    >>> wall = Occlusion.of(np.zeros((48, 64), np.float32), camera)
    >>> allocator = meshes.MeshAllocator(skull, meshes.VisibleScreenError(wall))
    >>> allocator.allocate(camera, budget=20_000).cost == skull.root_triangle_count
    True
    """

    occlusion: Occlusion | tuple[Occlusion | None, ...]
    error: ErrorName | None = None
    _implied: bool = field(default=False, repr=False, kw_only=True)

    unit = "px2"
    additive = False

    def __post_init__(self) -> None:
        ScreenError(self.error)
        fix = "pass hra.camera.Occlusion.of(depth, camera), or a tuple with one for each view"
        for buffer in self.occlusion if isinstance(self.occlusion, tuple) else (self.occlusion,):
            check_kind("occlusion", buffer, (Occlusion, type(None)), fix)

    def resolve(self, hierarchy: Hierarchy) -> VisibleScreenError:
        """The metric with the error that None stands for, see `ScreenError.resolve`."""
        plain = self._plain.resolve(hierarchy)
        return replace(self, error=plain.error, _implied=plain._implied)

    def seen_from(self, placement: Any) -> VisibleScreenError:
        """The metric for a mesh that ``placement`` [4, 4] puts into the coordinates of the buffer's camera.

        Raises
        ------
        CameraError : see `hra.Camera.seen_from`.
        """
        placed = tuple(buffer and buffer.seen_from(placement) for buffer in self._buffers)
        return replace(self, occlusion=placed if isinstance(self.occlusion, tuple) else placed[0])

    def peak(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Largest displacement in pixels of the visible part of each cluster, 0 for hidden ones, float64 [N]."""
        plain = self._plain.resolve(hierarchy)
        distances = plain.largest_distances(hierarchy)
        seen = []
        for view, buffer in self._pairs(context):
            sources = sources_of(hierarchy, view.camera, beside_view=plain.certified)
            shown = sources.only(_visible(hierarchy, sources.seen, buffer) | (sources.apart > 0))
            seen.append(errors_in_view(plain, hierarchy, distances, view, shown))
        return reduce(np.maximum, seen)

    def evaluate(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Squared displacement that the visible part of each cluster adds to the mean over the viewport, [N], px2."""
        weights = []
        for view, buffer in self._pairs(context):
            pixels = source_pixels(hierarchy, view.camera)
            pixels *= _visible(hierarchy, pixels, buffer)
            weights.append(source_weights(hierarchy, view, pixels))
        return mean_squares(hierarchy, self._plain.mean_distances(hierarchy), reduce(np.add, weights))

    @property
    def _buffers(self) -> tuple[Occlusion | None, ...]:
        return self.occlusion if isinstance(self.occlusion, tuple) else (self.occlusion,)

    def _pairs(self, context: Any) -> list[tuple[View, Occlusion | None]]:
        """Each view with the buffer that hides from it."""
        views = views_of(context)
        if len(views) != len(self._buffers):
            what = f"each view needs a depth buffer: there are {len(self._buffers)} for {len(views)}"
            fix = "pass a tuple of buffers, None for a view without"
            raise MetricError(what, where="context", fix=fix)
        return list(zip(views, self._buffers, strict=True))

    @property
    def _plain(self) -> ScreenError:
        return ScreenError(self.error, _implied=self._implied)


def _visible(hierarchy: Hierarchy, pixels: np.ndarray, buffer: Occlusion | None) -> np.ndarray:
    """Which clusters of ``pixels`` [N] above 0 the buffer does not hide, bool [N]."""
    visible = pixels > 0
    if buffer is not None:
        visible[visible] = buffer.visible_boxes(hierarchy.attribute("box")[visible])
    return visible
