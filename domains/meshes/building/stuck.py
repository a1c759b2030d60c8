"""What is tried with a group that edge collapses cannot simplify."""

from __future__ import annotations

import numpy as np

from hra.domains.meshes.building import meshopt
from hra.domains.meshes.building.creases import without_slivers
from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.building.simplify import STUCK_SHARE, Simplified, split_into_clusters
from hra.domains.meshes.building.vertex_clustering import cluster_vertices
from hra.domains.meshes.building.weld import without_degenerate


def simplify_stuck_group(
    indices: np.ndarray, geometry: Geometry, shared: np.ndarray, locked: np.ndarray, cluster_size: int
) -> Simplified | None:
    """A stuck group's triangles at about half the number, by removing islands, else by clustering vertices.

    Both move or drop ``locked`` vertices, so they are for groups without ``shared`` ones: whole islands, and in the end
    all that is left. Other groups can wait until they are put together with what they touch.

    Returns
    -------
    None where a vertex is shared with other groups, or where nothing helps.
    """
    if shared[indices].any():
        return None
    target = indices.size // 6
    simplify = meshopt.simplify if geometry.metric is None else geometry.metric.simplify
    coarse, error = simplify(indices, geometry.unit_positions, locked, 3 * target, prune=True)
    if not 0 < coarse.size <= STUCK_SHARE * indices.size:
        triangles, materials = geometry.by_position(indices).reshape(-1, 3), None
        if geometry.material is not None:
            materials = geometry.material[indices].reshape(-1, 3)
        moved, error = cluster_vertices(triangles, geometry.unit_positions, target, materials)
        coarse = _with_wedges(indices, moved.astype(np.uint32), geometry)
    if not 0 < coarse.size <= STUCK_SHARE * indices.size:
        return None
    return split_into_clusters(coarse, geometry.unit_positions, cluster_size, error)


def _with_wedges(indices: np.ndarray, moved: np.ndarray, geometry: Geometry) -> np.ndarray:
    """The triangles ``moved`` [F, 3] with three positions as wedges like the corners ``indices`` [3 F] were, uint32."""
    if geometry.metric is None or geometry.position_of is None:
        return without_degenerate(moved).reshape(-1)
    corners = geometry.metric.nearest_wedges(indices, moved.reshape(-1), geometry.position_of, geometry.material)
    return without_slivers(corners, geometry.positions)
