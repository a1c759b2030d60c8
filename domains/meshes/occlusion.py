"""Hidden clusters: left out when a cut is drawn, and worth nothing when a budget is shared out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from hra.domains.meshes.cluster_mesh import ClusterMesh
from hra.domains.meshes.metrics import ScreenError, source_weights, spread_upwards
from hra.hierarchy import Hierarchy
from hra.metrics import ErrorMetric
from hra.occlusion import Occlusion


def cluster_boxes(cluster_mesh: ClusterMesh) -> np.ndarray:
    """Axis-aligned boxes around the triangles of all clusters, float32 [N, 2, 3], object units.

    They are smaller than the clusters' spheres, which enclose all that a cluster was simplified from.
    """
    points, first = cluster_mesh.positions[cluster_mesh.indices], cluster_mesh.offsets[:-1]
    return np.stack([np.minimum.reduceat(points, first), np.maximum.reduceat(points, first)], axis=1)


def visible_clusters(cluster_mesh: ClusterMesh, clusters: np.ndarray, occlusion: Occlusion) -> np.ndarray:
    """The ``clusters`` (numbers [K], usually a cut) that may be visible, in order: what is left to draw.

    Conservative: leaving out the others changes no pixel of a frame that contains what is in the depth buffer.

    Parameters
    ----------
    occlusion : with a camera in the mesh's coordinates.
    """
    return clusters[occlusion.visible_boxes(cluster_boxes(cluster_mesh)[clusters])]


@final
@dataclass(frozen=True, eq=False)
class VisibleScreenError(ErrorMetric):
    """`ScreenError` of what a depth buffer does not hide; the context is a `Camera`, usually that of the buffer.

    For budgets, hidden *source* clusters weigh nothing before the weights are spread upwards. A weight for every
    cluster by itself would not do: the sphere of a coarse cluster sticks out where all that it stands for is hidden,
    and refining it would seem to remove its whole error. For thresholds the spheres serve: as they nest, a hidden
    cluster has no visible finer one.

    Not additive, because what is hidden depends on how the occluders are drawn, and the buffer is of one way to draw
    them: allocations are ``heuristic``.

    Parameters
    ----------
    occlusion : of the last frame, say, with a camera in the mesh's coordinates.
    """

    occlusion: Occlusion

    unit = "px2"
    additive = False

    def peak(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Largest displacement in pixels of each cluster, 0 for hidden ones, float64 [N]."""
        return ScreenError().peak(hierarchy, context) * self._visible(hierarchy)

    def evaluate(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Squared displacement that the visible part of each cluster adds to the mean over the viewport, [N], px2."""
        weight = source_weights(hierarchy, context) * self._visible(hierarchy)
        spread_upwards(*hierarchy.added_nodes, *hierarchy.removed_nodes, hierarchy.attribute("area"), weight)
        return np.square(hierarchy.attribute("error").astype(np.float64)) * weight

    def _visible(self, hierarchy: Hierarchy) -> np.ndarray:
        return self.occlusion.visible_spheres(hierarchy.attribute("center"), hierarchy.attribute("radius"))
