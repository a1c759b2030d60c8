"""Which clusters are simplified together, and which vertices must stay meanwhile."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.compiling import njit
from hra.domains.meshes.building.compact import distinct_vertices
from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.mesh import meshopt
from hra.domains.meshes.mesh.cluster_table import ClusterTable
from hra.kernels.trees import morton_codes

# Islands above this share of a full group are worth a group of their own.
_SMALL_SHARE = 0.5


@dataclass(frozen=True, eq=False)
class Grouping:
    """The groups of a level.

    Attributes
    ----------
    label : int64 [N], the group of each cluster, numbered 0 .. G - 1 without gaps.
    shared : uint8 [V], 1 for the vertices of more than one group, which must stay.
    merged_islands : how many isolated groups were put together with others.
    """

    label: np.ndarray
    shared: np.ndarray
    merged_islands: int


def group_clusters(clusters: ClusterTable, geometry: Geometry, group_size: int) -> Grouping:
    """Group clusters with long common borders, about ``group_size`` of them, and small islands by nearness."""
    shared = np.zeros(len(geometry.positions), np.uint8)
    if len(clusters) <= group_size:
        return Grouping(np.zeros(len(clusters), np.int64), shared, 0)
    # Wedges of one position are one vertex here: what is locked must hold on both sides of a seam.
    vertices, begins = distinct_vertices(geometry.by_position(clusters.indices), clusters.offsets, len(shared))
    label = meshopt.partition_clusters(vertices, np.diff(begins).astype(np.uint32), len(shared), group_size)
    label = label.astype(np.int64)
    isolated = np.ones(int(label.max()) + 1, bool)
    _mark_shared(vertices, begins, label, np.full(len(shared), -1, np.int32), shared, isolated)
    label, merged = _merge_islands(clusters, label, isolated, group_size)
    return Grouping(label, geometry.for_all_wedges(shared), merged)


@njit(cache=True)
def _mark_shared(vertices, begins, group, owner, shared, isolated):
    """Mark the vertices of more than one group, and the groups that have such a vertex as not isolated."""
    for c in range(group.size):
        for i in range(begins[c], begins[c + 1]):
            v = vertices[i]
            # The first group at a vertex owns it; another one there makes it shared.
            if owner[v] < 0:
                owner[v] = group[c]
            elif owner[v] != group[c]:
                shared[v] = 1
                isolated[owner[v]] = isolated[group[c]] = False


def _merge_islands(
    clusters: ClusterTable, group: np.ndarray, isolated: np.ndarray, group_size: int
) -> tuple[np.ndarray, int]:
    """Put groups that touch no other group together with near ones of their kind, until a group is full.

    Without it each island would be simplified by itself, to a few triangles, and the root could never be smaller than
    the number of islands. Full is what ``group_size`` clusters of the largest size have; islands are taken along a
    Morton curve, so that those of a group are near each other.

    Parameters
    ----------
    clusters : the clusters of a level.
    group : int64 [N], the group of each, numbered 0 .. G - 1 without gaps.
    isolated : bool [G], whether a group shares no vertex with others.

    Returns
    -------
    int64 [N], groups numbered without gaps; how many groups were put together with others.
    """
    triangles = clusters.sizes // 3
    capacity = group_size * int(triangles.max())
    weight = np.bincount(group, triangles)
    small = np.flatnonzero(isolated & (weight <= _SMALL_SHARE * capacity))
    if len(small) < 2:
        return group, 0
    center = np.stack([np.bincount(group, clusters.center[:, axis] * triangles) for axis in range(3)], axis=1)
    center /= weight[:, None]
    # Islands are few: the compiled backend, which finds the same, would take longer to compile than it saves.
    along = small[np.argsort(morton_codes(center[small], backend="reference"), kind="stable")]
    # An island belongs where its middle falls in the sum along the curve.
    middle = np.cumsum(weight[along]) - weight[along] / 2
    number = np.arange(len(weight))
    # Beyond the numbers of the groups there are, so that bins and those that stay do not meet.
    number[along] = len(weight) + (middle // capacity).astype(np.int64)
    _, merged, sizes = np.unique(number, return_inverse=True, return_counts=True)
    return merged[group], int((sizes[merged[along]] > 1).sum())
