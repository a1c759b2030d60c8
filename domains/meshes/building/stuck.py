"""What is tried with a group that edge collapses cannot simplify."""

from __future__ import annotations

import numpy as np

from hra.domains.meshes.building import meshopt
from hra.domains.meshes.building.creases import without_slivers
from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.building.simplify import Simplified, Step, split_into_clusters
from hra.domains.meshes.building.vertex_clustering import cluster_vertices
from hra.domains.meshes.building.weld import without_degenerate


def simplify_stuck_group(
    indices: np.ndarray, geometry: Geometry, shared: np.ndarray, locked: np.ndarray, step: Step
) -> Simplified | None:
    """A stuck group's triangles at about the ``step``'s share, by removing islands or by clustering vertices.

    Whichever leaves the smaller error: islands of one size go all at once, and may be much more than is asked for. Both
    move or drop ``locked`` vertices, so they are for groups without ``shared`` ones: whole islands, and in the end all
    that is left. Other groups can wait until they are put together with what they touch.

    Returns
    -------
    None where a vertex is shared with other groups, or where nothing helps.
    """
    if shared[indices].any():
        return None
    simplify = meshopt.simplify if geometry.metric is None else geometry.metric.simplify
    pruned = simplify(indices, geometry.unit_positions, locked, step.target(indices), prune=True)
    triangles, materials = geometry.by_position(indices).reshape(-1, 3), None
    if geometry.material is not None:
        materials = geometry.material[indices].reshape(-1, 3)
    moved, moved_by = cluster_vertices(triangles, geometry.unit_positions, step.target(indices) // 3, materials)
    clustered = _with_wedges(indices, moved.astype(np.uint32), geometry), moved_by
    found = [(error, coarse) for coarse, error in (pruned, clustered) if step.reached(coarse, indices)]
    if not found:
        return None
    error, coarse = min(found, key=lambda pair: pair[0])
    return split_into_clusters(coarse, geometry.unit_positions, step.cluster_size, error)


def _with_wedges(indices: np.ndarray, moved: np.ndarray, geometry: Geometry) -> np.ndarray:
    """The triangles ``moved`` [F, 3] with three positions as wedges like the corners ``indices`` [3 F] were, uint32."""
    if geometry.metric is None or geometry.position_of is None:
        return without_degenerate(moved).reshape(-1)
    corners = geometry.metric.nearest_wedges(indices, moved.reshape(-1), geometry.position_of, geometry.material)
    return without_slivers(corners, geometry.positions)
