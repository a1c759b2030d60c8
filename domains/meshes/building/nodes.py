"""Clusters by what makes their triangles and what takes them away."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.building.level import shares
from hra.domains.meshes.building.regions import distinct
from hra.domains.meshes.building.simplify import Simplified, split_into_clusters
from hra.domains.meshes.building.source_clusters import own_bounds
from hra.domains.meshes.measures.surface import surface_area
from hra.domains.meshes.mesh.cluster_table import ClusterTable
from hra.domains.meshes.mesh.meshopt import MAX_VERTICES


@dataclass(frozen=True, eq=False)
class Nodes:
    """N clusters in the order of what makes them.

    Attributes
    ----------
    indices : uint32 [3 T]; offsets : int64 [N + 1]; vertex_count : uint32 [N], as in `ClusterTable`.
    made_by, gone_by : int64 [N], the same for all triangles of a cluster.
    """

    indices: np.ndarray
    offsets: np.ndarray
    vertex_count: np.ndarray
    made_by: np.ndarray
    gone_by: np.ndarray

    @classmethod
    def of(
        cls, triangles: np.ndarray, made_by: np.ndarray, gone_by: np.ndarray, geometry: Geometry, cluster_size: int
    ) -> Nodes:
        """From triangles [K, 3] and what makes and takes away each."""
        order = np.lexsort((gone_by, made_by))
        triangles, made_by, gone_by = np.ascontiguousarray(triangles[order]), made_by[order], gone_by[order]
        run = np.cumsum(np.concatenate([[0], (np.diff(made_by) != 0) | (np.diff(gone_by) != 0)]))
        # What may have too many vertices is split as well.
        large = np.flatnonzero(np.bincount(run) > min(cluster_size, MAX_VERTICES // 3))
        part = np.zeros(len(run), np.int64)
        for one in large.tolist():
            rows = slice(*np.searchsorted(run, [one, one + 1]).tolist())
            split = split_into_clusters(triangles[rows].reshape(-1), geometry.unit_positions, cluster_size)
            triangles[rows] = split.indices.reshape(-1, 3)
            part[rows] = np.repeat(np.arange(len(split.vertex_count)), np.diff(split.offsets) // 3)
        begins = np.flatnonzero(np.concatenate([[True], (np.diff(run) != 0) | (np.diff(part) != 0)]))
        offsets = 3 * np.append(begins, len(run))
        node = np.repeat(np.arange(len(begins)), np.diff(offsets))
        used = distinct(node * len(geometry.positions) + triangles.reshape(-1)) // len(geometry.positions)
        vertex_count = np.bincount(used).astype(np.uint32)
        return cls(triangles.reshape(-1), offsets, vertex_count, made_by[begins], gone_by[begins])

    def shares(self, positions: np.ndarray) -> np.ndarray:
        """The part of each cluster in the surface that is made with it, float64 [N]."""
        return shares(surface_area(positions, self.indices, self.offsets), self.made_by)

    def made(self, error: np.ndarray) -> list[Simplified]:
        """The clusters that each group makes, with its ``error`` [G]."""
        ends, found = np.searchsorted(self.made_by, np.arange(len(error) + 1)).tolist(), []
        for own, begin, end in zip(error.tolist(), ends, ends[1:], strict=False):
            offsets = self.offsets[begin : end + 1]
            indices = self.indices[offsets[0] : offsets[-1]]
            found.append(Simplified(indices, offsets - offsets[0], self.vertex_count[begin:end], own))
        return found

    def table(self) -> ClusterTable:
        """The clusters, of which nothing else is known yet."""
        count = len(self.made_by)
        return ClusterTable(
            indices=self.indices,
            offsets=self.offsets,
            vertex_count=self.vertex_count,
            center=np.zeros((count, 3), np.float32),
            radius=np.zeros(count, np.float32),
            box=np.zeros((count, 2, 3), np.float32),
            error=np.zeros(count, np.float32),
            deviation=np.zeros((count, 2), np.float32),
            hausdorff=np.zeros(count, np.float32),
            area=np.zeros(count),
            level=np.zeros(count, np.int32),
            made_by=self.made_by,
        )


def split_by_taker(
    clusters: ClusterTable, gone_by: np.ndarray, geometry: Geometry, cluster_size: int
) -> tuple[ClusterTable, np.ndarray]:
    """The triangles of ``clusters`` in clusters of which each is taken away at once; and by which group [N].

    Source clusters get bounds of their own. All others share those of the group that made them.

    Parameters
    ----------
    gone_by : int64 [T], the group that takes away each triangle, in the order of the clusters; -1 for none.
    """
    _, first, of_maker = np.unique(clusters.made_by, return_index=True, return_inverse=True)
    made_by = np.repeat(of_maker, clusters.sizes // 3)
    nodes = Nodes.of(clusters.indices.reshape(-1, 3), made_by, gone_by, geometry, cluster_size)
    area = np.bincount(of_maker, clusters.area)[nodes.made_by] * nodes.shares(geometry.positions)
    table = clusters.take(first[nodes.made_by])
    shape = {"indices": nodes.indices, "offsets": nodes.offsets, "vertex_count": nodes.vertex_count}
    own = table.made_by < 0
    bounds = own_bounds(geometry.positions, nodes.indices, nodes.offsets)
    shared = table.center, table.radius, table.box
    center, radius, box = (
        np.where(own.reshape(-1, *[1] * (mine.ndim - 1)), mine, theirs)
        for mine, theirs in zip(bounds, shared, strict=True)
    )
    return replace(table, **shape, area=area, center=center, radius=radius, box=box), nodes.gone_by
