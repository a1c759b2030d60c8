"""Small islands simplified together: what shares no vertex with anything else can only be merged by nearness."""

from __future__ import annotations

import numpy as np

from hra.domains.meshes.cluster_table import ClusterTable
from hra.kernels.trees import morton_codes

# Islands above this share of a full group are worth a group of their own.
_SMALL_SHARE = 0.5


def merge_islands(
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
    along = small[np.argsort(morton_codes(center[small]), kind="stable")]
    # An island belongs where its middle falls in the sum along the curve.
    middle = np.cumsum(weight[along]) - weight[along] / 2
    number = np.arange(len(weight))
    number[along] = len(weight) + (middle // capacity).astype(np.int64)
    _, merged, sizes = np.unique(number, return_inverse=True, return_counts=True)
    return merged[group], int((sizes[merged[along]] > 1).sum())
