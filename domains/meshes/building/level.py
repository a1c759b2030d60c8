"""One level of a cluster hierarchy: what the groups of the level below are simplified to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from hra.domains.meshes.boxes import enclosing_boxes
from hra.domains.meshes.building.borders import Borders
from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.building.simplify import Simplified, simplify_group
from hra.domains.meshes.building.spheres import enclosing_spheres
from hra.domains.meshes.building.stuck import simplify_stuck_group
from hra.domains.meshes.building.threads import Workers, batches
from hra.domains.meshes.cluster_table import ClusterTable
from hra.domains.meshes.measures.deviation import group_deviations
from hra.domains.meshes.measures.surface import surface_area
from hra.domains.meshes.ragged import run_offsets, take_runs

# About 5 ms of work: short beside a level, long beside handing it to a thread.
_GROUPS_AT_ONCE = 16
# Each call takes memory for all vertices.
_DEVIATIONS_AT_ONCE = 64


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

    def size(self, group: int) -> int:
        """How many indices one group has."""
        begin, end = self.clusters.offsets[self.offsets[group : group + 2]]
        return int(end - begin)

    def reduce(self, function: np.ufunc, column: np.ndarray) -> np.ndarray:
        """``function`` over the rows of each group [G]."""
        return function.reduceat(column, self.offsets[:-1])


def simplify_groups(
    groups: Groups, geometry: Geometry, shared: np.ndarray, borders: Borders, cluster_size: int, workers: Workers
) -> Iterator[Simplified | None]:
    """Each group simplified, in order; None where it is stuck.

    Parameters
    ----------
    shared : uint8 [V], 1 for vertices of several groups, which must stay.
    borders : of the source. Where a group would leave them, it is simplified again without moving any border vertex.
    """
    locked, without_borders = shared | borders.uneven, shared | borders.ends
    references = groups.reduce(np.add, groups.clusters.vertex_count.astype(np.int64)).tolist()
    positions, metric = geometry.unit_positions, geometry.metric

    def attempt(group: int, kept: np.ndarray) -> Simplified | None:
        indices = groups.indices(group)
        return simplify_group(
            indices, positions, kept, references[group], cluster_size, metric
        ) or simplify_stuck_group(indices, geometry, shared, kept, cluster_size)

    def simplify(batch: range) -> list[Simplified | None]:
        results = [attempt(group, locked) for group in batch]
        for at, (group, result) in enumerate(zip(batch, results, strict=True)):
            if result is not None and borders.left_by(result.indices, groups.indices(group), geometry):
                results[at] = attempt(group, without_borders)
        return results

    return chain.from_iterable(workers.map(simplify, batches(len(groups), _GROUPS_AT_ONCE)))


def join(parts: Sequence[Simplified]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indices, offsets and vertex counts of the clusters of all ``parts``, as in `ClusterTable`."""
    indices = np.concatenate([part.indices for part in parts])
    offsets = run_offsets(np.concatenate([np.diff(part.offsets) for part in parts]))
    return indices, offsets, np.concatenate([part.vertex_count for part in parts])


def coarse_clusters(
    groups: Groups,
    results: Sequence[Simplified | None],
    geometry: Geometry,
    workers: Workers,
    *,
    level: int,
    first_group: int,
    certified: bool,
) -> ClusterTable:
    """The clusters that the groups were simplified to; stuck groups are passed over, the others numbered on.

    All clusters of one group carry the same error, sphere and box, which cover those of the group's members: so the
    projected error never falls from fine to coarse, and one test per cluster decides alike on both sides of a border.
    With ``certified`` their deviations are computed, which takes nearly as long as all else.
    """
    done = np.array([g for g, result in enumerate(results) if result is not None], np.int64)
    parts = [result for result in results if result is not None]
    rows = np.arange(len(groups.clusters))
    center, radius = enclosing_spheres(groups.clusters.center, groups.clusters.radius, groups.offsets, rows)
    own_error = np.array([part.error for part in parts]) * geometry.scale
    error = np.maximum(groups.reduce(np.maximum, groups.clusters.error)[done], own_error.astype(np.float32))
    counts = np.array([len(part.vertex_count) for part in parts], np.int64)
    indices, offsets, vertex_count = join(parts)
    group = np.repeat(np.arange(len(done)), counts)
    deviation = np.full(len(done), np.inf, np.float32)
    if certified:
        coarse_at = offsets[run_offsets(counts)]
        deviation = _deviations(groups, done, geometry.positions, (indices, coarse_at), workers)
    own_area = surface_area(geometry.positions, indices, offsets)
    return ClusterTable(
        indices=indices,
        offsets=offsets,
        vertex_count=vertex_count,
        center=center[done[group]],
        radius=radius[done[group]],
        box=enclosing_boxes(groups.clusters.box, groups.offsets)[done[group]],
        error=error[group],
        deviation=deviation[group],
        area=groups.reduce(np.add, groups.clusters.area)[done][group] * _shares(own_area, group),
        level=np.full(len(group), level, np.int32),
        made_by=first_group + group,
    )


def _deviations(
    groups: Groups, done: np.ndarray, positions: np.ndarray, coarse: tuple[np.ndarray, np.ndarray], workers: Workers
) -> np.ndarray:
    """Deviations float32 of the groups ``done``; ``coarse`` are their new indices and where those of each begin."""
    rows, members = take_runs(np.arange(len(groups.clusters)), groups.offsets, done)
    indices, offsets = take_runs(groups.clusters.indices, groups.clusters.offsets, rows)
    fine = (indices, offsets, groups.clusters.deviation[rows])

    def bound(batch: range) -> np.ndarray:
        ends = slice(batch.start, batch.stop + 1)
        return group_deviations(positions, fine, members[ends], (coarse[0], coarse[1][ends]))

    return np.concatenate(list(workers.map(bound, batches(len(done), _DEVIATIONS_AT_ONCE))))


def _shares(values: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Each value's share of its group's sum; equal shares where the sum is zero."""
    total, count = np.bincount(group, values), np.bincount(group)
    even = 1.0 / count[group]
    return np.divide(values, total[group], out=even, where=total[group] > 0)
