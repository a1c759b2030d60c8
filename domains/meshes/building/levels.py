"""All levels of a cluster hierarchy, from the source to the root."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.arrays import group as sort_by_group
from hra.domains.meshes.building.borders import Borders
from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.building.grouping import group_clusters
from hra.domains.meshes.building.level import Groups, coarse_clusters, simplify_groups
from hra.domains.meshes.building.meshopt import MAX_TRIANGLES
from hra.domains.meshes.building.progress import Countdown
from hra.domains.meshes.building.simplify import Simplified
from hra.domains.meshes.building.source_clusters import source_clusters
from hra.domains.meshes.building.threads import Workers
from hra.domains.meshes.cluster_table import ClusterTable, concatenate

# Where a level saves less than this share of the triangles, groups get twice as large: fewer vertices are locked then.
_POOR_SHARE = 0.25
# Grouping takes minutes beyond this where every cluster touches every other: the next step is one group for all.
_LARGEST_GROUP = 64


@dataclass(frozen=True)
class Settings:
    """What decides the result; see `hra.domains.meshes.build`."""

    cluster_size: int
    group_size: int
    certified: bool


@dataclass(frozen=True, eq=False)
class BuiltLevels:
    """Clusters of all levels, fine to coarse.

    Attributes
    ----------
    clusters : N clusters.
    member_of : int64 [N], the group that each is a member of, -1 where nothing simplifies it: it is in the base.
    stuck_groups, merged_islands : see `hra.domains.meshes.building.report.BuildReport`.
    """

    clusters: ClusterTable
    member_of: np.ndarray
    stuck_groups: int
    merged_islands: int


def build_levels(
    geometry: Geometry, triangles: np.ndarray, settings: Settings, workers: Workers, countdown: Countdown
) -> BuiltLevels:
    """The clusters of all levels of ``triangles`` uint32 [F, 3].

    Groups that are stuck wait for other neighbours, or for larger groups. It ends when at most 128 triangles are left,
    or when all that is left is stuck as one group.
    """
    tables = [source_clusters(geometry, triangles, settings.cluster_size, workers)]
    members: list[np.ndarray] = []
    pending, rows, count = tables[0], np.arange(len(tables[0])), len(tables[0])
    borders = Borders.of(geometry, triangles)
    group_size, merged_islands, stuck_groups = settings.group_size, 0, 0
    while pending.indices.size > 3 * MAX_TRIANGLES:
        grouping = group_clusters(pending, geometry, group_size)
        merged_islands += grouping.merged_islands
        offsets, order = sort_by_group(grouping.label, int(grouping.label.max()) + 1)
        groups, rows, before = Groups(pending.take(order), offsets), rows[order], pending.indices.size
        results = _simplify(groups, geometry, (grouping.shared, borders), settings.cluster_size, workers, countdown)
        done = np.array([result is not None for result in results])
        stuck = np.flatnonzero(~np.repeat(done, np.diff(offsets)))
        stuck_groups += int((~done).sum())
        pending = groups.clusters.take(stuck)
        if done.any():
            numbers = {"level": len(tables), "first_group": len(members)}
            products = coarse_clusters(groups, results, geometry, workers, **numbers, certified=settings.certified)
            members += [rows[offsets[g] : offsets[g + 1]] for g in np.flatnonzero(done)]
            tables.append(products)
            pending = concatenate([products, pending])
            rows = np.concatenate([np.arange(count, count + len(products)), rows[stuck]])
            count += len(products)
        elif len(groups) == 1:
            break
        if pending.indices.size > (1 - _POOR_SHARE) * before:
            group_size = 2 * group_size if 2 * group_size <= _LARGEST_GROUP else len(rows)
    return BuiltLevels(concatenate(tables), _inverse(members, count), stuck_groups, merged_islands)


def _simplify(
    groups: Groups,
    geometry: Geometry,
    kept: tuple[np.ndarray, Borders],
    cluster_size: int,
    workers: Workers,
    countdown: Countdown,
) -> list[Simplified | None]:
    results: list[Simplified | None] = []
    for result in simplify_groups(groups, geometry, *kept, cluster_size, workers):
        if result is not None:
            countdown.advance((groups.size(len(results)) - result.indices.size) // 3)
        results.append(result)
    return results


def _inverse(members: list[np.ndarray], count: int) -> np.ndarray:
    """The group that each of ``count`` clusters is a member of, -1 for none."""
    member_of = np.full(count, -1, np.int64)
    for group, rows in enumerate(members):
        member_of[rows] = group
    return member_of


def coarse_first(clusters: ClusterTable, member_of: np.ndarray) -> tuple[ClusterTable, np.ndarray]:
    """The same clusters and groups numbered from coarse to fine, the order of hierarchies and of streaming."""
    order = np.argsort(-clusters.level, kind="stable")
    last = int(member_of.max(initial=-1))
    table = clusters.take(order)
    made_by = np.where(table.made_by >= 0, last - table.made_by, -1)
    member_of = member_of[order]
    return table.renumbered(made_by), np.where(member_of >= 0, last - member_of, -1)
