"""All levels of a cluster hierarchy, from the source to the root.

Each level groups clusters again, and keeps the vertices that a group shares with others.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hra.compiling import njit
from hra.domains.meshes.building.borders import Borders
from hra.domains.meshes.building.fine_steps import ROOT, FineSteps, fine_steps
from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.building.level import Followed, Groups, coarse_clusters, level_deviations, simplify_groups
from hra.domains.meshes.building.part import Kept
from hra.domains.meshes.building.settings import Countdown, Settings, Workers
from hra.domains.meshes.building.simplify import CoarseStep
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
    """What of a larger mesh is built at once.

    Attributes
    ----------
    pinned : uint8 [V], 1 for the vertices that other parts use too, which stay where they are.
    until : triangles at which a part ends.
    first_group, first_level : numbers of the first group and of the level below it.
    """

    pinned: np.ndarray
    until: int
    first_group: int
    first_level: int


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
    fine = _FINE_DISCRETE if discrete else _FINE
    return levels_above(pending, geometry, borders, settings, workers, countdown, fine=fine)


def levels_above(
    pending: ClusterTable,
    geometry: Geometry,
    borders: Borders,
    settings: Settings,
    workers: Workers,
    countdown: Countdown,
    part: Part | None = None,
    numbers: tuple[int, int] = (0, 0),
    fine: int = _FINE,
) -> BuiltLevels:
    """The clusters ``pending``, and all levels above them.

    Parameters
    ----------
    borders : of the surface that the clusters cover.
    part : of a larger mesh that they are; None where they cover all of it.
    numbers : of the first group and of the level of ``pending``, without a part.
    fine : from this many triangles on it is simplified as a whole, in fine steps.
    """
    nothing = np.zeros(len(geometry.positions), np.uint8)
    built, group_size, whole = BuiltLevels(), settings.group_size, part is None
    part = part or Part(nothing, fine, *numbers)
    rows, followed = built.add(pending), None
    certified = whole and settings.certified
    # Ends: a round takes triangles away, or all groups are stuck. Then they get twice as large until one group holds
    # everything, and if that is stuck, nothing is left to try. A part ends before: its neighbours are what it lacks.
    while pending.indices.size > 3 * part.until:
        grouping = group_clusters(pending, geometry, group_size)
        built.merged_islands += grouping.merged_islands
        offsets, order = sort_by_group(grouping.label, int(grouping.label.max()) + 1)
        if certified and pending.indices.size <= 3 * _FOLLOWED:
            followed = (followed or Followed.of(pending, geometry)).take(order)
        groups, rows, before = Groups(pending.take(order), offsets), rows[order], pending.indices.size
        kept = Kept.of(grouping.shared | part.pinned, borders)
        # Only groups of the largest size are clustered beside neighbours: smaller ones may still get what they touch.
        step = CoarseStep(settings.cluster_size, coarse=2 * group_size > _LARGEST_GROUP)
        results = simplify_groups(groups, geometry, kept, step, workers, countdown, whole=whole)
        done = np.array([result is not None for result in results])
        stuck = np.flatnonzero(~np.repeat(done, np.diff(offsets)))
        built.stuck_groups += int((~done).sum())
        pending = groups.clusters.take(stuck)
        if done.any():
            own = {"level": part.first_level + len(built.tables), "first_group": part.first_group + len(built.members)}
            deviation = None
            if followed is not None:
                deviation, followed = followed.deviations(groups, results, geometry, workers)
            elif settings.certified:
                deviation = level_deviations(groups, results, geometry, workers)
            products = coarse_clusters(groups, results, geometry, **own, deviation=deviation)
            built.members += [rows[offsets[g] : offsets[g + 1]] for g in np.flatnonzero(done)]
            pending = concatenate([products, pending])
            rows = np.concatenate([built.add(products), rows[stuck]])
        elif len(groups) == 1:
            return built
        elif followed is not None:
            followed = followed.take(stuck)
        if pending.indices.size > (1 - _POOR_SHARE) * before:
            if not whole and 2 * group_size > _LARGEST_GROUP:
                return built
            group_size = 2 * group_size if 2 * group_size <= _LARGEST_GROUP else len(rows)
    if whole and pending.indices.size > 3 * ROOT:
        if certified:
            followed = followed or Followed.of(pending, geometry)
        found = fine_steps(pending, geometry, Kept.of(nothing, borders), settings, workers, countdown, followed)
        if found is not None:
            built.refine(rows, found, part.first_group)
    return built


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
