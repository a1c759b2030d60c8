"""The finest level: the source's triangles as clusters."""

from __future__ import annotations

import numpy as np

from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.building.level import join
from hra.domains.meshes.building.settings import Workers, batches
from hra.domains.meshes.building.simplify import Simplified, split_into_clusters
from hra.domains.meshes.building.spheres import enclosing_spheres
from hra.domains.meshes.distances.surface import surface_area
from hra.domains.meshes.mesh import meshopt
from hra.domains.meshes.mesh.cluster_table import ClusterTable
from hra.domains.meshes.mesh.ragged import distinct_vertices, vertex_boxes

# Enough that few clusters end at the border between two parts, and few enough that a part stays in the cache: parts of
# this size take a fifth less time than the whole mesh of 1.3 million triangles in one call, for 0.7 % more clusters.
_PART = 2**15


def source_clusters(geometry: Geometry, triangles: np.ndarray, cluster_size: int, workers: Workers) -> ClusterTable:
    """The source triangles uint32 [F, 3] as clusters of level 0, with their own spheres and boxes and no error.

    The triangles are split part by part along a space-filling curve, by all ``workers``.
    """
    positions = geometry.unit_positions
    near = meshopt.spatial_sort(np.ascontiguousarray(triangles).reshape(-1), positions)

    def split(part: range) -> Simplified:
        return split_into_clusters(near[3 * part.start : 3 * part.stop], positions, cluster_size)

    parts = list(workers.map(split, batches(len(triangles), _PART)))
    return level_zero(geometry, *join(parts))


def level_zero(geometry: Geometry, indices: np.ndarray, offsets: np.ndarray, vertex_count: np.ndarray) -> ClusterTable:
    """Parts of the source as clusters without error: their corners uint32, where each ends, and their vertices."""
    count = len(vertex_count)
    center, radius, box = own_bounds(geometry.positions, indices, offsets)
    return ClusterTable(
        indices=indices,
        offsets=offsets,
        vertex_count=vertex_count,
        center=center,
        radius=radius,
        box=box,
        error=np.zeros(count, np.float32),
        deviation=np.zeros((count, 2), np.float32),
        hausdorff=np.zeros(count, np.float32),
        area=surface_area(geometry.positions, indices, offsets),
        level=np.zeros(count, np.int32),
        made_by=np.full(count, -1, np.int64),
    )


def own_bounds(
    positions: np.ndarray, indices: np.ndarray, offsets: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Spheres (centre, radius) and boxes of clusters around their own vertices, see `ClusterTable`."""
    vertices, begins = distinct_vertices(indices, offsets, len(positions))
    # Vertices as spheres of no radius.
    points = np.zeros(len(positions), np.float32)
    return *enclosing_spheres(positions, points, begins, vertices), vertex_boxes(positions, vertices, begins)
