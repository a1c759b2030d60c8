"""Where the clusters of a source face: what of a surface can be seen from somewhere."""

from __future__ import annotations

import numpy as np

from hra.domains.meshes.measures.edges import boundary_chain


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
