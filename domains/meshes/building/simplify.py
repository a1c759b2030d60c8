"""One group of clusters: simplified to a share of its triangles and split into clusters again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.meshes.building.cluster_growth import grow_clusters
from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.mesh.meshopt import MAX_VERTICES

# A group that loses less than this part of what it shall lose is stuck: so small a step is not worth storing.
_WORTH = 0.3


@dataclass(frozen=True)
class CoarseStep:
    """How far a group is simplified.

    Attributes
    ----------
    cluster_size : triangles per cluster at most.
    share : of its triangles that a group shall keep.
    coarse : whether vertices may be clustered where a group's edges cannot be collapsed and it has neighbours.
    """

    cluster_size: int
    share: float = 0.5
    coarse: bool = False

    def target(self, indices: np.ndarray) -> int:
        """How many of the ``indices`` [3 T] shall be left."""
        return 3 * int(indices.size // 3 * self.share)

    def most(self, size: int) -> float:
        """How many indices may be left of ``size`` to be worth storing in their place."""
        return (1 - _WORTH * (1 - self.share)) * size

    def reach(self, coarse: np.ndarray, indices: np.ndarray) -> bool:
        """Whether ``coarse`` [3 S] is worth storing in place of ``indices`` [3 T]."""
        return 0 < coarse.size <= self.most(indices.size)


@dataclass(frozen=True, eq=False)
class Simplified:
    """The clusters of a simplified group.

    Attributes
    ----------
    indices : uint32 [3 T]; offsets : int64 [M + 1]; vertex_count : uint32 [M], as in `ClusterTable`.
    error : distance in the unit of the positions.
    """

    indices: np.ndarray
    offsets: np.ndarray
    vertex_count: np.ndarray
    error: float


def split_into_clusters(
    indices: np.ndarray, positions: np.ndarray, cluster_size: int, error: float = 0.0
) -> Simplified:
    """The triangles ``indices`` uint32 [3 T] as clusters of at most ``cluster_size`` triangles and 128 vertices."""
    corners, offsets, vertex_count = grow_clusters(indices, positions, cluster_size, MAX_VERTICES)
    return Simplified(corners, offsets, vertex_count, error)


def simplify_group(
    indices: np.ndarray, geometry: Geometry, locked: np.ndarray, vertex_references: int, step: CoarseStep
) -> Simplified | None:
    """A group's triangles at about the ``step``'s share, with the ``locked`` vertices in place.

    Parameters
    ----------
    indices : uint32 [3 T]; locked : uint8 [V].
    vertex_references : sum of the distinct vertices of the group's clusters.

    Returns
    -------
    None where simplification is stuck, leaves nothing, or would take more memory than before.
    """
    coarse, error = geometry.simplify(indices, locked, step.target(indices))
    if not step.reach(coarse, indices):
        return None
    result = split_into_clusters(coarse, geometry.unit_positions, step.cluster_size, error)
    # Clusters store a shared vertex once each: fewer triangles in more ragged clusters may need more vertices than
    # before.
    return result if result.vertex_count.sum() <= vertex_references else None
