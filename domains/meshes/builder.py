"""Build a cluster hierarchy: group neighbouring clusters, simplify each group to half, split, repeat to the root."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hra.arrays import group as sort_by_group
from hra.domains.meshes.cluster_mesh import ClusterMesh
from hra.domains.meshes.cluster_table import ClusterTable, concatenate
from hra.domains.meshes.grouping import group_clusters, lock_shared_vertices
from hra.domains.meshes.level import Geometry, Groups, coarse_clusters, original_clusters, simplify_groups
from hra.domains.meshes.meshopt import MAX_TRIANGLES
from hra.domains.meshes.read import load
from hra.domains.meshes.triangle_mesh import TriangleMesh
from hra.domains.meshes.weld import weld, without_degenerate
from hra.errors import HraError, MeshError

# Clusters whose group is stuck get a second chance with other neighbours; after that they stay as they are.
_ATTEMPTS = 2


def build(
    source: str | Path | TriangleMesh, *, cluster_size: int = 64, group_size: int = 8, certified: bool = False
) -> ClusterMesh:
    """Build the cluster hierarchy of a mesh.

    Triangles are split into clusters. Clusters that share borders form groups; each group is simplified to half its
    triangles with the vertices that it shares with other groups locked, and split into clusters again. Each level draws
    other borders, so that none stays fine for ever. Every down-closed set of refinements is a surface without cracks,
    because what meets at a border was simplified with the same locked vertices.

    Parameters
    ----------
    source : mesh, or a mesh file (see `load`).
    cluster_size : triangles per cluster at most, a multiple of 4 from 16 to 128.
    group_size : clusters per group, 3 .. 64. A step of a budget is half a group; smaller ones are finer, but more of
        their vertices are locked borders, so that the same triangles leave a larger error.
    certified : also bound how far the source lies from each cluster ("deviation"; see `hra.domains.meshes.deviation`),
        which takes three to four times as long.

    Returns
    -------
    ClusterMesh; equal input gives equal output.

    Raises
    ------
    FileError, MeshError, MissingExtra, BackendUnavailable : see `load`.

    References
    ----------
    Karis et al., Nanite, SIGGRAPH 2021 (Advances in Real-Time Rendering); meshoptimizer, demo/clusterlod.h.
    """
    _check_size("cluster_size", cluster_size, range(16, MAX_TRIANGLES + 1, 4))
    _check_size("group_size", group_size, range(3, 65))
    mesh = source if isinstance(source, TriangleMesh) else load(source)
    positions, triangles = weld(mesh.positions, mesh.triangles)
    triangles = without_degenerate(triangles)
    if not len(triangles):
        raise MeshError("every triangle of the mesh has two equal corners", where=repr(mesh))
    clusters, added_by = build_levels(Geometry.of(positions), triangles, cluster_size, group_size, certified)
    return ClusterMesh.from_table(positions, *coarse_first(clusters, added_by))


def _check_size(name: str, value: int, allowed: range) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value not in allowed:
        choice = f"from {allowed.start} to {allowed[-1]}" + (f" in steps of {allowed.step}" if allowed.step > 1 else "")
        raise HraError(f"{name} must be an integer {choice}, got {value!r}", where=name)


@dataclass(frozen=True, eq=False)
class _Pending:
    """Clusters that may still be simplified: their rows [n] among all clusters, and how often they were stuck [n]."""

    clusters: ClusterTable
    rows: np.ndarray
    failures: np.ndarray

    def take(self, which: np.ndarray) -> _Pending:
        return _Pending(self.clusters.take(which), self.rows[which], self.failures[which])

    def is_small(self) -> bool:
        return self.clusters.indices.size <= 3 * MAX_TRIANGLES


def build_levels(
    geometry: Geometry, triangles: np.ndarray, cluster_size: int, group_size: int, certified: bool
) -> tuple[ClusterTable, np.ndarray]:
    """All clusters of all levels, fine to coarse, and the group [N] that each is a member of (-1: it is the base).

    Simplification ends when at most 128 triangles are left, or nothing can be simplified any more.
    """
    tables = [original_clusters(geometry, triangles, cluster_size)]
    members: list[np.ndarray] = []
    count = len(tables[0])
    pending = _Pending(tables[0], np.arange(count), np.zeros(count, np.int64))
    locked = np.zeros(len(geometry.positions), np.uint8)
    while len(pending.rows) and not pending.is_small():
        label = group_clusters(pending.clusters, len(geometry.positions), group_size)
        offsets, order = sort_by_group(label, int(label.max()) + 1)
        pending = pending.take(order)
        groups = Groups(pending.clusters, offsets)
        shared = lock_shared_vertices(pending.clusters, label[order], locked)
        results = simplify_groups(groups, geometry, shared, cluster_size)
        done = np.array([result is not None for result in results])
        if not done.any():
            break
        numbers = {"level": len(tables), "first_group": len(members)}
        products = coarse_clusters(groups, results, geometry, **numbers, certified=certified)
        members += [pending.rows[offsets[g] : offsets[g + 1]] for g in np.flatnonzero(done)]
        stuck = _retry(pending.take(np.flatnonzero(~done[label[order]])), locked)
        pending = _joined(products, count, stuck)
        tables.append(products)
        count += len(products)
    return concatenate(tables), _inverse(members, count)


def _retry(stuck: _Pending, locked: np.ndarray) -> _Pending:
    """The stuck clusters that may try again. The others are final: their vertices are ``locked`` from now on."""
    last = stuck.failures + 1 >= _ATTEMPTS
    locked[stuck.clusters.take(np.flatnonzero(last)).indices] = 1
    again = stuck.take(np.flatnonzero(~last))
    return _Pending(again.clusters, again.rows, again.failures + 1)


def _joined(products: ClusterTable, first_row: int, stuck: _Pending) -> _Pending:
    rows = np.arange(first_row, first_row + len(products))
    return _Pending(
        concatenate([products, stuck.clusters]),
        np.concatenate([rows, stuck.rows]),
        np.concatenate([np.zeros(len(products), np.int64), stuck.failures]),
    )


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
