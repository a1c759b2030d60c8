"""Clusters while a hierarchy is being built: one row each, their triangles one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from hra.domains.meshes.mesh.ragged import run_offsets, take_runs


@dataclass(frozen=True, eq=False)
class ClusterTable:
    """N clusters.

    Attributes
    ----------
    indices : uint32 [3 T], vertex numbers.
    offsets : int64 [N + 1], where each cluster's indices begin.
    vertex_count : int32 [N], distinct vertices.
    center, radius : float32 [N, 3], float32 [N], sphere that encloses the spheres of everything finer.
    box : float32 [N, 2, 3], least and largest corner of the box around the boxes of everything finer.
    error : float32 [N], distance in object units by the quadric metric.
    deviation : float32 [N, 2], bounds on how far the source is from the cluster's group, and the group from the source,
        in object units; inf where none were computed.
    hausdorff : float32 [N], the larger of the two, and no less than those of everything finer.
    area : float64 [N], surface of the source that the cluster stands for.
    level : int32 [N], 0 for original triangles.
    made_by : int64 [N], the group whose simplification it belongs to, -1 for original triangles.
    """

    indices: np.ndarray
    offsets: np.ndarray
    vertex_count: np.ndarray
    center: np.ndarray
    radius: np.ndarray
    box: np.ndarray
    error: np.ndarray
    deviation: np.ndarray
    hausdorff: np.ndarray
    area: np.ndarray
    level: np.ndarray
    made_by: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> np.ndarray:
        """Indices per cluster, int64 [N]."""
        return np.diff(self.offsets)

    def take(self, rows: np.ndarray) -> ClusterTable:
        """The clusters ``rows``, in that order."""
        indices, offsets = take_runs(self.indices, self.offsets, rows)
        return ClusterTable(indices, offsets, **{name: getattr(self, name).take(rows, axis=0) for name in _COLUMNS})

    def write(self, rows: np.ndarray, clusters: ClusterTable) -> None:
        """Overwrite ``rows`` with clusters of the same triangles."""
        for name in _COLUMNS:
            getattr(self, name)[rows] = getattr(clusters, name)

    def renumber(self, made_by: np.ndarray) -> ClusterTable:
        """The same clusters with other group numbers [N]."""
        return replace(self, made_by=made_by)


def concatenate(tables: Sequence[ClusterTable]) -> ClusterTable:
    """The clusters of all ``tables``, in order."""
    indices = np.concatenate([table.indices for table in tables])
    offsets = run_offsets(np.concatenate([table.sizes for table in tables]))
    columns = {name: np.concatenate([getattr(table, name) for table in tables]) for name in _COLUMNS}
    return ClusterTable(indices, offsets, **columns)


_COLUMNS = tuple(f.name for f in fields(ClusterTable) if f.name not in ("indices", "offsets"))
