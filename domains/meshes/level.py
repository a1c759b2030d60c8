"""One level of a cluster hierarchy: the original clusters, and what a level's groups are simplified to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hra.domains.meshes.cluster_table import ClusterTable
from hra.domains.meshes.deviation import group_deviations
from hra.domains.meshes.ragged import run_offsets, take_runs
from hra.domains.meshes.simplify import Simplified, simplify_group, split_into_clusters
from hra.domains.meshes.spheres import enclosing_spheres
from hra.domains.meshes.surface import surface_area


@dataclass(frozen=True, eq=False)
class Geometry:
    """The shared vertices of all levels.

    Attributes
    ----------
    positions : float32 [V, 3], object units.
    unit_positions : float32 [V, 3], the same in a unit cube, where the simplifier's float32 products keep their digits.
    scale : object units per unit.
    """

    positions: np.ndarray
    unit_positions: np.ndarray
    scale: float

    @classmethod
    def of(cls, positions: np.ndarray) -> Geometry:
        """From positions float32 [V, 3] of any magnitude."""
        low, high = positions.min(axis=0).astype(np.float64), positions.max(axis=0).astype(np.float64)
        scale = float((high - low).max()) or 1.0
        return cls(positions, np.ascontiguousarray((positions - low) / scale, np.float32), scale)


@dataclass(frozen=True, eq=False)
class Groups:
    """The clusters of a level in the order of their groups; group g has the rows offsets[g] .. offsets[g + 1]."""

    clusters: ClusterTable
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def indices(self, group: int) -> np.ndarray:
        """The vertex numbers of all triangles of one group, uint32 [3 T]."""
        begin, end = self.clusters.offsets[self.offsets[group : group + 2]]
        return self.clusters.indices[begin:end]

    def reduce(self, function: np.ufunc, column: np.ndarray) -> np.ndarray:
        """``function`` over the rows of each group [G]."""
        return function.reduceat(column, self.offsets[:-1])


def original_clusters(geometry: Geometry, triangles: np.ndarray, cluster_size: int) -> ClusterTable:
    """The source triangles uint32 [F, 3] as clusters of level 0, with their own spheres and no error."""
    split = split_into_clusters(np.ascontiguousarray(triangles).reshape(-1), geometry.unit_positions, cluster_size)
    count = len(split.vertex_count)
    points = np.zeros(len(geometry.positions), np.float32)
    center, radius = enclosing_spheres(geometry.positions, points, split.offsets, split.indices)
    return ClusterTable(
        indices=split.indices,
        offsets=split.offsets,
        vertex_count=split.vertex_count,
        center=center,
        radius=radius,
        error=np.zeros(count, np.float32),
        deviation=np.zeros(count, np.float32),
        area=surface_area(geometry.positions, split.indices, split.offsets),
        level=np.zeros(count, np.int32),
        made_by=np.full(count, -1, np.int64),
    )


def simplify_groups(
    groups: Groups, geometry: Geometry, locked: np.ndarray, cluster_size: int
) -> list[Simplified | None]:
    """Each group simplified, None where it is stuck. ``locked`` uint8 [V] are the vertices that must stay."""
    references = groups.reduce(np.add, groups.clusters.vertex_count.astype(np.int64)).tolist()
    positions = geometry.unit_positions
    return [
        simplify_group(groups.indices(group), positions, locked, before, cluster_size)
        for group, before in enumerate(references)
    ]


def coarse_clusters(
    groups: Groups,
    results: Sequence[Simplified | None],
    geometry: Geometry,
    *,
    level: int,
    first_group: int,
    certified: bool,
) -> ClusterTable:
    """The clusters that the groups were simplified to; stuck groups are passed over, the others numbered on.

    All clusters of one group carry the same error and sphere, which cover those of the group's members: so the
    projected error never falls from fine to coarse, and one test per cluster decides alike on both sides of a border.
    With ``certified`` their deviations are computed, which takes two to three times as long as all else.
    """
    done = np.array([g for g, result in enumerate(results) if result is not None], np.int64)
    parts = [result for result in results if result is not None]
    rows = np.arange(len(groups.clusters))
    center, radius = enclosing_spheres(groups.clusters.center, groups.clusters.radius, groups.offsets, rows)
    own_error = np.array([part.error for part in parts]) * geometry.scale
    error = np.maximum(groups.reduce(np.maximum, groups.clusters.error)[done], own_error.astype(np.float32))
    counts = np.array([len(part.vertex_count) for part in parts], np.int64)
    indices = np.concatenate([part.indices for part in parts])
    offsets = run_offsets(np.concatenate([np.diff(part.offsets) for part in parts]))
    group = np.repeat(np.arange(len(done)), counts)
    deviation = np.full(len(done), np.inf, np.float32)
    if certified:
        coarse_at = offsets[run_offsets(counts)]
        deviation = _deviations(groups, done, geometry.positions, indices, coarse_at)
    own_area = surface_area(geometry.positions, indices, offsets)
    return ClusterTable(
        indices=indices,
        offsets=offsets,
        vertex_count=np.concatenate([part.vertex_count for part in parts]),
        center=center[done[group]],
        radius=radius[done[group]],
        error=error[group],
        deviation=deviation[group],
        area=groups.reduce(np.add, groups.clusters.area)[done][group] * _shares(own_area, group),
        level=np.full(len(group), level, np.int32),
        made_by=first_group + group,
    )


def _deviations(
    groups: Groups, done: np.ndarray, positions: np.ndarray, coarse: np.ndarray, coarse_at: np.ndarray
) -> np.ndarray:
    """Deviations float32 of the groups ``done``, whose coarse indices begin at ``coarse_at``."""
    rows, members = take_runs(np.arange(len(groups.clusters)), groups.offsets, done)
    indices, offsets = take_runs(groups.clusters.indices, groups.clusters.offsets, rows)
    fine = (indices, offsets, groups.clusters.deviation[rows])
    return group_deviations(positions, fine, members, (coarse, coarse_at))


def _shares(values: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Each value's share of its group's sum; equal shares where the sum is zero."""
    total, count = np.bincount(group, values), np.bincount(group)
    even = 1.0 / count[group]
    return np.divide(values, total[group], out=even, where=total[group] > 0)
