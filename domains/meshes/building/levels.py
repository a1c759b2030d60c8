"""All levels of a cluster hierarchy, from the source to the root.

Each level groups clusters again, and keeps the vertices that a group shares with others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from hra.compiling import njit
from hra.domains.meshes.building.borders import Borders
from hra.domains.meshes.building.fine_steps import ROOT, FineSteps, fine_steps
from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.building.level import Followed, Groups, coarse_clusters, level_deviations, simplify_groups
from hra.domains.meshes.building.part import Kept
from hra.domains.meshes.building.settings import Countdown, Settings, Workers
from hra.domains.meshes.building.simplify import CoarseStep, Simplified
from hra.domains.meshes.building.source_clusters import source_clusters
from hra.domains.meshes.mesh import meshopt
from hra.domains.meshes.mesh.cluster_table import ClusterTable, concatenate
from hra.domains.meshes.mesh.ragged import distinct_vertices, run_offsets
from hra.kernels.trees import morton_codes
from hra.model.arrays import group as sort_by_group

# Where a level saves less than this share of the triangles, groups get twice as large: fewer vertices are locked then.
_POOR_SHARE = 0.25
# Grouping takes minutes beyond this where every cluster touches every other: the next step is one group for all.
_LARGEST_GROUP = 64
# From this many triangles on the mesh is simplified in fine steps. Discrete levels show where groups met; a view that
# changes does not.
_FINE, _FINE_DISCRETE = 2**13, 2**18
# Meshes of this many triangles at most are what bounds are measured from; those of larger ones add up until then.
_FOLLOWED = 2**15
# Islands above this share of a full group are worth a group of their own.
_SMALL_SHARE = 0.5


@dataclass(frozen=True, eq=False)
class Part:
    """What is built at once: a mesh, or a part of a larger one.

    Attributes
    ----------
    pinned : uint8 [V], 1 for the vertices that other parts use too, which stay where they are.
    until : triangles at which a part ends, and from which on a whole mesh is simplified as one group in fine steps.
    first_group, first_level : numbers of the first group and of the level below it.
    whole : whether it is all of a mesh.
    """

    pinned: np.ndarray
    until: int
    first_group: int
    first_level: int
    whole: bool = False

    @classmethod
    def all_of(cls, geometry: Geometry, first_group: int = 0, first_level: int = 0, fine: int = _FINE) -> Part:
        """A whole mesh, simplified in fine steps from ``fine`` triangles on."""
        return cls(np.zeros(len(geometry.positions), np.uint8), fine, first_group, first_level, whole=True)


@dataclass
class BuiltLevels:
    """Clusters of all levels, fine to coarse.

    Attributes
    ----------
    tables : the clusters, one table per level or step.
    members : for each group, the numbers of the clusters that it simplifies, counted through all ``tables``.
    stuck_groups, merged_islands : see `hra.domains.meshes.mesh.report.BuildReport`.
    """

    tables: list[ClusterTable] = field(default_factory=list)
    members: list[np.ndarray] = field(default_factory=list)
    stuck_groups: int = 0
    merged_islands: int = 0

    @property
    def cluster_count(self) -> int:
        """The number of clusters in all tables."""
        return sum(len(table) for table in self.tables)

    def exchange(self, rows: np.ndarray, table: ClusterTable) -> np.ndarray:
        """Other clusters in place of ``rows`` [M], which no group simplifies yet; the numbers of the new ones."""
        kept = np.ones(self.cluster_count, np.bool_)
        kept[rows] = False
        runs = np.split(kept, np.cumsum([len(one) for one in self.tables])[:-1])
        self.tables = [one.take(np.flatnonzero(run)) for one, run in zip(self.tables, runs, strict=True) if run.any()]
        number = np.cumsum(kept) - 1
        self.members = [number[members] for members in self.members]
        return self.add(table)

    def refine(self, rows: np.ndarray, steps: FineSteps, first_group: int) -> None:
        """Simplify the clusters ``rows`` [M], which no group simplifies yet, in fine ``steps``."""
        first = first_group + len(self.members)
        top = self.exchange(rows, steps.top)
        both = np.concatenate([top, self.add(steps.products.renumber(steps.products.made_by + first))])
        self.members += [both[members] for members in steps.members]

    def add(self, table: ClusterTable) -> np.ndarray:
        """The next table; the numbers of its clusters [N]."""
        first = self.cluster_count
        self.tables.append(table)
        return np.arange(first, first + len(table))


def build_levels(
    geometry: Geometry,
    triangles: np.ndarray,
    settings: Settings,
    workers: Workers,
    countdown: Countdown,
    *,
    discrete: bool = False,
) -> BuiltLevels:
    """The clusters of all levels of ``triangles`` uint32 [F, 3].

    Groups that are stuck wait for other neighbours, or for larger groups. Near the root the mesh is simplified as a
    whole. It ends when at most 16 triangles are left, or when all that is left is stuck as one group.

    Parameters
    ----------
    discrete : whether it is for levels of the whole mesh. They need not end where the source does, which where three
        faces meet holds vertices in place, and larger meshes are simplified as a whole.
    """
    pending = source_clusters(geometry, triangles, settings.cluster_size, workers)
    borders = Borders.nowhere(geometry) if discrete else Borders.of(geometry, triangles)
    part = Part.all_of(geometry, fine=_FINE_DISCRETE if discrete else _FINE)
    return levels_above(pending, geometry, borders, part, settings, workers, countdown)


def levels_above(
    pending: ClusterTable,
    geometry: Geometry,
    borders: Borders,
    part: Part,
    settings: Settings,
    workers: Workers,
    countdown: Countdown,
) -> BuiltLevels:
    """The clusters ``pending`` of a ``part``, and all levels above them.

    Parameters
    ----------
    borders : of the surface that the clusters cover.
    """
    built = BuiltLevels()
    rows = built.add(pending)
    climb = _Climb(geometry, borders, part, settings, workers, countdown, built, pending, rows, settings.group_size)
    # Ends: a round takes triangles away, or all groups are stuck. Then they get twice as large until one group holds
    # everything, and if that is stuck, nothing is left to try. A part ends before: its neighbours are what it lacks.
    while climb.pending.indices.size > 3 * part.until:
        if not climb.round():
            return built
    if part.whole and climb.pending.indices.size > 3 * ROOT:
        climb.finish()
    return built


@dataclass
class _Climb:
    """A surface on its way from its source to its root.

    Attributes
    ----------
    geometry, borders, part, settings, workers, countdown : see `levels_above`; they stay.
    built : what is made so far.
    pending : the clusters that no group simplifies yet; rows : int64 [N], their numbers in ``built``.
    group_size : clusters in a group of the next round.
    followed : what bounds are measured from, with the clusters ``pending`` on it; None where they add up.
    """

    geometry: Geometry
    borders: Borders
    part: Part
    settings: Settings
    workers: Workers
    countdown: Countdown
    built: BuiltLevels
    pending: ClusterTable
    rows: np.ndarray
    group_size: int
    followed: Followed | None = None

    def round(self) -> bool:
        """Simplify what is pending in groups, as a level of its own; False if nothing is left to try."""
        before = self.pending.indices.size
        groups, shared = self._grouped()
        kept = Kept.of(shared | self.part.pinned, self.borders)
        # Only groups of the largest size are clustered beside neighbours: smaller ones may still get what they touch.
        step = CoarseStep(self.settings.cluster_size, coarse=2 * self.group_size > _LARGEST_GROUP)
        whole = self.part.whole
        results = simplify_groups(groups, self.geometry, kept, step, self.workers, self.countdown, whole=whole)
        stuck = sum(result is None for result in results)
        self.built.stuck_groups += stuck
        if stuck < len(groups):
            self._replace(groups, results)
        elif len(groups) == 1:
            return False
        return self.pending.indices.size <= (1 - _POOR_SHARE) * before or self._widen()

    def finish(self) -> None:
        """Simplify what is pending as one group in fine steps, if they get anywhere."""
        if self._follows():
            self.followed = self.followed or Followed.of(self.pending, self.geometry)
        kept = Kept.of(self.part.pinned, self.borders)
        steps = fine_steps(
            self.pending, self.geometry, kept, self.settings, self.workers, self.countdown, self.followed
        )
        if steps is not None:
            self.built.refine(self.rows, steps, self.part.first_group)

    def _grouped(self) -> tuple[Groups, np.ndarray]:
        """What is pending, in the order of its groups from now on; the vertices of several groups, uint8 [V]."""
        grouping = group_clusters(self.pending, self.geometry, self.group_size)
        self.built.merged_islands += grouping.merged_islands
        offsets, order = sort_by_group(grouping.label, int(grouping.label.max()) + 1)
        if self._follows() and self.pending.indices.size <= 3 * _FOLLOWED:
            self.followed = (self.followed or Followed.of(self.pending, self.geometry)).take(order)
        self.pending, self.rows = self.pending.take(order), self.rows[order]
        return Groups(self.pending, offsets), grouping.shared

    def _replace(self, groups: Groups, results: Sequence[Simplified | None]) -> None:
        """Put what groups were simplified to in the place of their members; those of stuck groups stay pending."""
        done = np.array([result is not None for result in results])
        stuck = np.flatnonzero(~np.repeat(done, np.diff(groups.offsets)))
        products = coarse_clusters(
            groups,
            results,
            self.geometry,
            level=self.part.first_level + len(self.built.tables),
            first_group=self.part.first_group + len(self.built.members),
            deviation=self._deviations(groups, results),
        )
        self.built.members += [self.rows[slice(*groups.offsets[g : g + 2])] for g in np.flatnonzero(done)]
        self.pending = concatenate([products, groups.clusters.take(stuck)])
        self.rows = np.concatenate([self.built.add(products), self.rows[stuck]])

    def _deviations(self, groups: Groups, results: Sequence[Simplified | None]) -> np.ndarray | None:
        """How far what groups were simplified to is from the source, see `coarse_clusters`."""
        if self.followed is not None:
            found, self.followed = self.followed.deviations(groups, results, self.geometry, self.workers)
            return found
        return level_deviations(groups, results, self.geometry, self.workers) if self.settings.certified else None

    def _follows(self) -> bool:
        """Whether bounds are measured from a surface that is followed: one part does not know the others."""
        return self.part.whole and self.settings.certified

    def _widen(self) -> bool:
        """Make groups twice as large, or one of all that is pending; False where a part ends instead."""
        wider = 2 * self.group_size
        if wider > _LARGEST_GROUP and not self.part.whole:
            return False
        self.group_size = wider if wider <= _LARGEST_GROUP else len(self.rows)
        return True


def coarse_first(built: BuiltLevels) -> tuple[ClusterTable, np.ndarray]:
    """All clusters and groups numbered from coarse to fine, the order of hierarchies and of streaming.

    Returns
    -------
    N clusters; the group that each is a member of, int64 [N], -1 where nothing simplifies it: it is in the base.
    """
    ends = run_offsets(np.array([len(table) for table in built.tables]))
    order = np.concatenate([np.arange(*ends[k : k + 2]) for k in reversed(range(len(built.tables)))])
    table, last = concatenate(built.tables[::-1]), len(built.members) - 1
    made_by = np.where(table.made_by >= 0, last - table.made_by, -1)
    member_of = np.full(len(table), -1, np.int64)
    # ``rows`` and ``made_by`` count as the clusters were made, fine to coarse.
    for group, rows in enumerate(built.members):
        member_of[rows] = last - group
    return table.renumber(made_by), member_of[order]


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
