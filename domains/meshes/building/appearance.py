"""What a built mesh needs to know for thresholds that bound how its surface looks.

That is how much normals change, and where source clusters face: what of a surface can be seen from somewhere.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hra.domains.meshes.distances.normal_changes import Surface, normal_changes
from hra.domains.meshes.distances.surface import boundary_chain
from hra.domains.meshes.mesh.cluster_mesh import ClusterMesh, with_attributes
from hra.domains.meshes.mesh.ragged import take_runs
from hra.errors import check_kind

_FLAT = np.zeros((0, 3), np.float32)


def with_appearance(clusters: ClusterMesh) -> ClusterMesh:
    """The same mesh with what ``ScreenError("appearance")`` reads, see `ClusterMesh.hierarchy`; `build` can do it, too.

    Normals are those of the vertices where the mesh has any, else those of the triangles. It takes an eighth to a
    fifth of the processor time of a build; equal input gives equal output.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> skull = meshes.with_appearance(meshes.build(hra.samples.path("skull.ply")))
    >>> looks = meshes.MeshAllocator(skull, meshes.ScreenError("appearance"), hra.Threshold(1.0))
    >>> looks.allocate(hra.Camera.orbit(skull.bounds, azimuth=30), budget=float("inf")).max_error <= 1.0
    True
    """
    check_kind("clusters", clusters, ClusterMesh, "pass meshes.build(mesh), or load_clusters(path)")
    hierarchy, carried = clusters.hierarchy, clusters.attributes
    normals = _FLAT if carried is None or carried.normals is None else carried.normals
    surface = Surface(clusters.positions, normals, clusters.indices, clusters.offsets)
    change, facing = normal_changes(surface, hierarchy), _facing(clusters)
    looked_at = with_attributes(clusters, normal_change=change, facing=facing)
    report = clusters.report
    if report is not None:
        report = replace(report, settings={**report.settings, "appearance": True})
    return replace(looked_at, report=report)


def _facing(clusters: ClusterMesh) -> np.ndarray:
    """`cluster_facing` of the source's clusters, 0 for the others; float32 [N, 4]."""
    source = np.flatnonzero(clusters.hierarchy.removed_by < 0)
    indices, offsets = take_runs(clusters.indices, clusters.offsets, source)
    result = np.zeros((len(clusters.offsets) - 1, 4), np.float32)
    result[source] = cluster_facing(clusters.positions, clusters.position_of, indices, offsets)
    return result


def cluster_facing(
    positions: np.ndarray, position_of: np.ndarray, indices: np.ndarray, offsets: np.ndarray
) -> np.ndarray:
    """The mean normal of each cluster of a source, and whether its back can be seen, float32 [N, 4].

    The mean of unit normals by area is short where they differ. The last column is 1 where both sides can be seen,
    because the surface has a border; inside of a closed one it is 0, and its normals point outward.

    Parameters
    ----------
    positions : float32 [V, 3]; position_of : uint32 [V], the first vertex at the position of each.
    indices : uint32 [3 T]; offsets : int64 [N + 1], where each cluster's indices begin.
    """
    result = np.zeros((len(offsets) - 1, 4), np.float32)
    if not indices.size:
        return result
    triangles = indices.reshape(-1, 3)
    corners = positions[triangles].astype(np.float64)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    cluster = np.repeat(np.arange(len(result)), np.diff(offsets) // 3)
    area = np.bincount(cluster, np.linalg.norm(across, axis=1), len(result))
    total = np.stack([np.bincount(cluster, across[:, axis], len(result)) for axis in range(3)], axis=1)
    if len(boundary_chain(position_of[triangles])[0]):
        result[:, 3] = 1.0
    elif _volume(corners) < 0.0:
        total = -total
    result[:, :3] = np.divide(total, area[:, None], out=np.zeros_like(total), where=area[:, None] > 0.0)
    return result


def _volume(corners: np.ndarray) -> float:
    """What closed triangles [F, 3, 3] enclose, less than 0 where they are wound inside out."""
    # From a corner of its own, so that a small mesh far from the origin loses nothing.
    a, b, c = np.moveaxis(corners - corners[0, 0], 1, 0)
    return float(np.einsum("fa,fa->", a, np.cross(b, c)))
