"""Which clusters are simplified together, and which vertices must stay meanwhile."""

from __future__ import annotations

import numpy as np
from numba import njit

from hra.domains.meshes import meshopt
from hra.domains.meshes.cluster_table import ClusterTable


def group_clusters(clusters: ClusterTable, vertex_count: int, group_size: int) -> np.ndarray:
    """The group of each cluster, int64 [N]: neighbours with long common borders, about ``group_size`` of them."""
    if len(clusters) <= group_size:
        return np.zeros(len(clusters), np.int64)
    sizes = clusters.sizes.astype(np.uint32)
    return meshopt.partition_clusters(clusters.indices, sizes, vertex_count, group_size).astype(np.int64)


def lock_shared_vertices(clusters: ClusterTable, group: np.ndarray, locked: np.ndarray) -> np.ndarray:
    """The locks uint8 [V] with every vertex added that clusters of more than one ``group`` [N] use."""
    result = locked.copy()
    _lock(clusters.indices, clusters.offsets, group, np.full(len(locked), -1, np.int64), result)
    return result


@njit(cache=True)
def _lock(indices, offsets, group, owner, locked):
    for c in range(group.size):
        for i in range(offsets[c], offsets[c + 1]):
            v = indices[i]
            if owner[v] < 0:
                owner[v] = group[c]
            elif owner[v] != group[c]:
                locked[v] = 1
