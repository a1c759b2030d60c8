"""Hidden clusters: left out when a cut is drawn, and worth nothing when a budget is shared out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from hra.camera.occlusion import Occlusion
from hra.domains.meshes.boxes import vertex_boxes
from hra.domains.meshes.cluster_mesh import ClusterMesh
from hra.domains.meshes.displacement import largest_displacements, mean_squares, source_pixels, source_weights
from hra.domains.meshes.metrics import ErrorName, ScreenError
from hra.domains.meshes.ragged import take_runs
from hra.domains.meshes.views import View, views_of
from hra.errors import MetricError
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric


def cluster_boxes(cluster_mesh: ClusterMesh) -> np.ndarray:
    """Axis-aligned boxes around the triangles of all clusters, float32 [N, 2, 3], object units.

    They are smaller than the nested boxes ("box"), which enclose all that a cluster was simplified from, and suffice
    where triangles are drawn.
    """
    return vertex_boxes(cluster_mesh.positions, cluster_mesh.indices, cluster_mesh.offsets)


def visible_clusters(cluster_mesh: ClusterMesh, clusters: np.ndarray, occlusion: Occlusion) -> np.ndarray:
    """The ``clusters`` (numbers [K], usually a cut) that may be visible, in order: what is left to draw.

    Conservative: leaving out the others changes no pixel of a frame that contains what is in the depth buffer.

    Parameters
    ----------
    occlusion : with a camera in the mesh's coordinates.
    """
    boxes = vertex_boxes(cluster_mesh.positions, *take_runs(cluster_mesh.indices, cluster_mesh.offsets, clusters))
    return clusters[occlusion.visible_boxes(boxes)]


@final
@dataclass(frozen=True, eq=False)
class VisibleScreenError(ErrorMetric):
    """`ScreenError` of what a depth buffer does not hide; the context is one `Camera` or `View`, usually the buffer's.

    Hidden *source* clusters, found by their boxes, count nothing before errors and weights are passed upwards. A test
    of every cluster by itself would not do: the box of a coarse cluster sticks out where all that it stands for is
    hidden, and refining it would seem to remove its whole error.

    Not additive, because what is hidden depends on how the occluders are drawn, and the buffer is of one way to draw
    them: allocations are ``heuristic``.

    Parameters
    ----------
    occlusion : of the last frame, say, with a camera in the mesh's coordinates.
    error : as in `ScreenError`.

    Raises
    ------
    MetricError : another error.
    """

    occlusion: Occlusion
    error: ErrorName = "quadric"

    unit = "px2"
    additive = False

    def __post_init__(self) -> None:
        ScreenError(self.error)

    def peak(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Largest displacement in pixels of the visible part of each cluster, 0 for hidden ones, float64 [N]."""
        view, distances = _one(context), ScreenError(self.error).distances(hierarchy)
        return largest_displacements(hierarchy, distances, view, self._visible_pixels(hierarchy, view))

    def evaluate(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Squared displacement that the visible part of each cluster adds to the mean over the viewport, [N], px2."""
        view, distances = _one(context), ScreenError(self.error).distances(hierarchy)
        weights = source_weights(hierarchy, view, self._visible_pixels(hierarchy, view))
        return mean_squares(hierarchy, distances, weights)

    def _visible_pixels(self, hierarchy: Hierarchy, view: View) -> np.ndarray:
        """`source_pixels`, 0 for hidden clusters."""
        pixels = source_pixels(hierarchy, view.camera)
        sources = np.flatnonzero(pixels)
        pixels[sources] *= self.occlusion.visible_boxes(hierarchy.attribute("box")[sources])
        return pixels


def _one(context: Any) -> View:
    views = views_of(context)
    if len(views) != 1:
        what = f"a depth buffer is of one view, got {len(views)}"
        raise MetricError(what, where="context", fix="pass one camera, or use ScreenError")
    return views[0]
