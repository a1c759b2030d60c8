"""One level of a cluster hierarchy: what the groups of the level below are simplified to.

Each group keeps as much as its detail needs, so that a level leaves little error where surfaces differ in detail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from hra.caching import cached_property
from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.building.part import Kept, simplify_part
from hra.domains.meshes.building.settings import Countdown, Workers, batches
from hra.domains.meshes.building.sides import carried_deviations, two_sided_deviations
from hra.domains.meshes.building.simplify import CoarseStep, Simplified
from hra.domains.meshes.building.spheres import enclosing_spheres
from hra.domains.meshes.distances.carrying import Carried
from hra.domains.meshes.distances.surface import surface_area
from hra.domains.meshes.mesh.cluster_table import ClusterTable
from hra.domains.meshes.mesh.ragged import enclosing_boxes, run_offsets, take_runs

# About 5 ms of work: short beside a level, long beside handing it to a thread.
_GROUPS_AT_ONCE = 16
# Levels of this many triangles at most are balanced, which takes a second pass. With finer levels as well, large builds
# would take a quarter longer, for errors that few cuts show.
_BALANCED = 2**17
# A group keeps at least and at most such shares: levels stay about half of the one before.
_LEAST, _MOST = 0.3, 0.7
# Shares go with this power of the errors. As errors fall about as 1 / triangles, 1 would make all of them equal; but
# they are the largest of each group, and a single sharp corner must not keep the triangles of flat surface around it.
_POWER = 1 / 3
# Bisection to 2**-40 of the range of scales.
_BISECTIONS = 40


@dataclass(frozen=True, eq=False)
class Groups:
    """The clusters of a level in the order of their groups; group g has the rows offsets[g] .. offsets[g + 1]."""

    clusters: ClusterTable
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def ends(self) -> list[int]:
        """Where the indices of each group begin, and where those of the last end."""
        return self.clusters.offsets[self.offsets].tolist()

    def indices(self, group: int) -> np.ndarray:
        """The vertex numbers of all triangles of one group, uint32 [3 T]."""
        return self.clusters.indices[self.ends[group] : self.ends[group + 1]]

    @classmethod
    def single(cls, clusters: ClusterTable) -> Groups:
        """All ``clusters`` as one group."""
        return cls(clusters, np.array([0, len(clusters)]))

    def size(self, group: int) -> int:
        """How many indices one group has."""
        return self.ends[group + 1] - self.ends[group]

    def reduce(self, function: np.ufunc, column: np.ndarray) -> np.ndarray:
        """``function`` over the rows of each group [G]."""
        return function.reduceat(column, self.offsets[:-1])


def simplify_groups(
    groups: Groups,
    geometry: Geometry,
    kept: Kept,
    step: CoarseStep,
    workers: Workers,
    countdown: Countdown,
    *,
    whole: bool = True,
) -> list[Simplified | None]:
    """Each group simplified, in order; None where it is stuck.

    All take the ``step``; on small levels of the ``whole`` mesh it is balanced, with other shares for each group.
    """
    references = groups.reduce(np.add, groups.clusters.vertex_count.astype(np.int64)).tolist()
    steps = [step] * len(groups)
    if whole and groups.clusters.indices.size <= 3 * _BALANCED:
        steps = [replace(step, share=share) for share in _balance(groups, geometry, kept, step, workers)]

    def simplify(batch: range) -> list[Simplified | None]:
        return [simplify_part(groups.indices(g), references[g], geometry, kept, steps[g]) for g in batch]

    results: list[Simplified | None] = []
    for result in chain.from_iterable(workers.map(simplify, batches(len(groups), _GROUPS_AT_ONCE))):
        if result is not None:
            countdown.advance((groups.size(len(results)) - result.indices.size) // 3)
        results.append(result)
    return results


def _balance(groups: Groups, geometry: Geometry, kept: Kept, step: CoarseStep, workers: Workers) -> list[float]:
    """A share for each group by what the ``step`` would leave of it; that of the step where it is stuck."""

    def attempt(batch: range) -> list[tuple[int, float]]:
        tried = []
        for indices in map(groups.indices, batch):
            coarse, error = geometry.simplify(indices, kept.locked, step.target(indices))
            tried.append((coarse.size if step.reach(coarse, indices) else 0, error))
        return tried

    left, errors = np.array(list(chain.from_iterable(workers.map(attempt, batches(len(groups), _GROUPS_AT_ONCE))))).T
    shares, free = np.full(len(groups), step.share), np.flatnonzero(left)
    if errors[free].any():
        sizes = np.array([groups.size(g) for g in free.tolist()])
        shares[free] = balanced_shares(sizes, left[free], errors[free])
    return shares.tolist()


def join(parts: Sequence[Simplified]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indices, offsets and vertex counts of the clusters of all ``parts``, as in `ClusterTable`."""
    indices = np.concatenate([part.indices for part in parts])
    begins = run_offsets(np.array([part.indices.size for part in parts]))[:-1]
    ends = np.concatenate([part.offsets[1:] for part in parts])
    ends += np.repeat(begins, [len(part.vertex_count) for part in parts])
    return indices, np.concatenate([[0], ends]), np.concatenate([part.vertex_count for part in parts])


def level_deviations(
    groups: Groups, results: Sequence[Simplified | None], geometry: Geometry, workers: Workers
) -> np.ndarray:
    """How far the source and what each group was simplified to are from each other, float32 [G, 2], without stuck ones.

    It takes three quarters as long as all else.
    """
    done = np.array([g for g, result in enumerate(results) if result is not None], np.int64)
    parts = [result for result in results if result is not None]
    members = take_runs(np.arange(len(groups.clusters)), groups.offsets, done)
    indices, offsets, _ = join(parts)
    coarse = indices, offsets[run_offsets(np.array([len(part.vertex_count) for part in parts], np.int64))]
    return two_sided_deviations(groups.clusters, members, geometry.positions, coarse, workers)


@dataclass(frozen=True, eq=False)
class Followed:
    """A surface that bounds are measured from, carried along, and where on it clusters are.

    Attributes
    ----------
    first : int64 [N], the number of the first triangle of each cluster; the others follow.
    sizes : int64 [N], triangles.
    """

    carried: Carried
    first: np.ndarray
    sizes: np.ndarray

    @classmethod
    def of(cls, clusters: ClusterTable, geometry: Geometry) -> Followed:
        """The surface of ``clusters``, with what is known of how far they are from the source."""
        sizes = clusters.sizes // 3
        deviation = np.repeat(clusters.deviation, sizes, axis=0)
        carried = Carried(geometry.positions, clusters.indices.reshape(-1, 3), deviation)
        return cls(carried, run_offsets(sizes)[:-1], sizes)

    def take(self, rows: np.ndarray) -> Followed:
        """The clusters ``rows``, in that order."""
        return replace(self, first=self.first[rows], sizes=self.sizes[rows])

    @property
    def triangles(self) -> np.ndarray:
        """The numbers of all triangles, one cluster after the other."""
        ends = run_offsets(self.sizes)
        return np.arange(ends[-1]) + np.repeat(self.first - ends[:-1], self.sizes)

    def deviations(
        self, groups: Groups, results: Sequence[Simplified | None], geometry: Geometry, workers: Workers
    ) -> tuple[np.ndarray, Followed]:
        """`level_deviations`, and the clusters that are left: what groups were simplified to, then stuck ones."""
        done = np.array([result is not None for result in results])
        stays = ~np.repeat(done, np.diff(groups.offsets))
        gone, stuck = self.take(np.flatnonzero(~stays)), self.take(np.flatnonzero(stays))
        parts = [result for result in results if result is not None]
        indices, offsets, _ = join(parts)
        numbers = self.carried.add(indices.size // 3)
        counts = [
            np.array([p.indices.size // 3 for p in parts]),
            np.array([groups.size(g) // 3 for g in np.flatnonzero(done).tolist()]),
        ]
        made_at, gone_at = (run_offsets(count) for count in counts)
        found = carried_deviations(
            self.carried, (gone_at, gone.triangles), (made_at, numbers), indices, geometry.positions, workers
        )
        first = np.concatenate([numbers[0] + offsets[:-1] // 3, stuck.first])
        return found, Followed(self.carried, first, np.concatenate([np.diff(offsets) // 3, stuck.sizes]))


def coarse_clusters(
    groups: Groups,
    results: Sequence[Simplified | None],
    geometry: Geometry,
    *,
    level: int,
    first_group: int,
    deviation: np.ndarray | None,
) -> ClusterTable:
    """The clusters that the groups were simplified to; stuck groups are passed over, the others numbered on.

    All clusters of one group carry the same error, sphere and box, which cover those of the group's members: so the
    projected error never falls from fine to coarse, and one test per cluster decides alike on both sides of a border.

    Parameters
    ----------
    level, first_group : numbers of the level and of its first group.
    deviation : float32 [G, 2], of the groups that are not stuck (`two_sided_deviations`); None where none are known.
    """
    done = np.array([g for g, result in enumerate(results) if result is not None], np.int64)
    parts = [result for result in results if result is not None]
    rows = np.arange(len(groups.clusters))
    center, radius = enclosing_spheres(groups.clusters.center, groups.clusters.radius, groups.offsets, rows)
    center, radius, box = center[done], radius[done], enclosing_boxes(groups.clusters.box, groups.offsets)[done]
    # From the simplifier's units, which are a power of two apart: without rounding.
    own_error = np.array([part.error for part in parts]) * geometry.scale
    # Never less than that of a member: a threshold that opens a group has opened all groups above it.
    error = np.maximum(groups.reduce(np.maximum, groups.clusters.error)[done], own_error.astype(np.float32))
    counts = np.array([len(part.vertex_count) for part in parts], np.int64)
    indices, offsets, vertex_count = join(parts)
    group = np.repeat(np.arange(len(done)), counts)
    if geometry.spare is not None:
        _enclose(geometry.positions, indices, geometry.spare, np.repeat(group, np.diff(offsets)), center, radius, box)
    if deviation is None:
        deviation = np.full((len(done), 2), np.inf, np.float32)
    # Monotone as the error is; the maximum of two bounds from the same source is none the less one.
    finer = groups.reduce(np.maximum, groups.clusters.hausdorff)[done]
    own_area = surface_area(geometry.positions, indices, offsets)
    return ClusterTable(
        indices=indices,
        offsets=offsets,
        vertex_count=vertex_count,
        center=center[group],
        radius=radius[group],
        box=box[group],
        error=error[group],
        deviation=deviation[group],
        hausdorff=np.maximum(deviation.max(axis=1), finer)[group],
        area=groups.reduce(np.add, groups.clusters.area)[done][group] * shares(own_area, group),
        level=np.full(len(group), level, np.int32),
        made_by=first_group + group,
    )


def _enclose(
    positions: np.ndarray,
    indices: np.ndarray,
    spare: np.ndarray,
    group: np.ndarray,
    center: np.ndarray,
    radius: np.ndarray,
    box: np.ndarray,
) -> None:
    """Widen the spheres and boxes of groups [G] by what of theirs, ``group`` [3 T], was enlarged."""
    grown = np.flatnonzero(spare[indices])
    points, group = positions[indices[grown]], group[grown]
    np.minimum.at(box[:, 0], group, points)
    np.maximum.at(box[:, 1], group, points)
    reach = np.linalg.norm(points.astype(np.float64) - center[group], axis=1) * (1 + 2.0**-22)
    np.maximum.at(radius, group, reach.astype(np.float32))


def shares(values: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Each value's share of its group's sum; equal shares where the sum is zero."""
    total, count = np.bincount(group, values), np.bincount(group)
    even = 1.0 / count[group]
    return np.divide(values, total[group], out=even, where=total[group] > 0)


def balanced_shares(triangles: np.ndarray, kept: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Shares of the triangles of each group that add up to as many triangles as are kept now.

    Halving every group alike would leave most of a level's error where the source has few triangles for its detail.

    Parameters
    ----------
    triangles : [G], of the groups; kept : [G], what simplification left of them, with ``errors`` [G] >= 0, not all 0.

    Returns
    -------
    float64 [G], from 0.3 to 0.7.
    """
    wanted = kept / triangles * (errors / errors.max()) ** _POWER

    def shares(scale: float) -> np.ndarray:
        return np.clip(wanted * scale, _LEAST, _MOST)

    # Shares grow with the scale, clipped ones as well, so that bisection finds the one that keeps as many.
    low, high = 0.0, _MOST / wanted[wanted > 0].min()
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if (triangles * shares(middle)).sum() > kept.sum():
            high = middle
        else:
            low = middle
    return shares(low)
