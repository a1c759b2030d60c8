"""The coarse levels in small local refinements, without borders that stay.

Groups of few clusters consist of borders for the most part, which must stay while a group is simplified. Near the root
the mesh is therefore simplified as a whole, and what differs from step to step is taken apart afterwards: into changes
that can be made one without another (`changes`), which are put together to refinements of a few triangles that lie
together (`regions`). A cluster is what one refinement adds and another one removes (`nodes`), so that refinements share
whatever they do not touch.

Hoppe, View-dependent refinement of progressive meshes, 1997, orders single collapses alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from hra.domains.meshes.building.change_deviations import change_deviations, waves
from hra.domains.meshes.building.changes import Changes, independent_changes
from hra.domains.meshes.building.compact import local_vertices
from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.building.level import Groups, coarse_clusters
from hra.domains.meshes.building.nodes import Nodes, split_by_taker
from hra.domains.meshes.building.part import Kept
from hra.domains.meshes.building.progress import Countdown
from hra.domains.meshes.building.regions import grown_regions
from hra.domains.meshes.building.settings import Settings
from hra.domains.meshes.building.small_steps import smaller_meshes
from hra.domains.meshes.building.threads import Workers
from hra.domains.meshes.mesh.cluster_table import ClusterTable, concatenate
from hra.domains.meshes.mesh.ragged import take_runs
from hra.model.arrays import group

# A refinement saves at least such a part of the triangles, if as many changes lie together.
_PART = 1 / 256
# Steps that the changes of a refinement are apart at most: a quarter of a halving.
_DEEPEST = 2
# The error of a level beside that of one of its steps. There are twice as many triangles as vertices, and a vertex that
# goes changes about six: until half of them are gone, a place is simplified about twice. Squared distances add up.
_LEVEL_PER_STEP = math.sqrt(2)


@dataclass(frozen=True, eq=False)
class FineSteps:
    """G refinements, numbered from fine to coarse.

    Attributes
    ----------
    top : the finest clusters, split by the parts simplified at once; products : all others, coarse to fine, with
        ``made_by`` 0 .. G - 1.
    members : of each refinement, the clusters that it simplifies, ``top`` counted before ``products``.
    """

    top: ClusterTable
    products: ClusterTable
    members: list[np.ndarray]

    @classmethod
    def of(cls, clusters: ClusterTable, first: int, gone_by: np.ndarray, count: int) -> FineSteps:
        """From clusters fine to coarse, ``first`` of the top, and which of ``count`` refinements takes each away."""
        top, others = np.arange(first), np.arange(first, len(clusters))[::-1]
        at, members = group(gone_by[np.concatenate([top, others])], count)
        runs = [members[begin:end].astype(np.int64) for begin, end in pairwise(at.tolist())]
        return cls(clusters.take(top), clusters.take(others), runs)


def fine_steps(
    top: ClusterTable, geometry: Geometry, kept: Kept, settings: Settings, workers: Workers, countdown: Countdown
) -> FineSteps | None:
    """The clusters ``top``, which cover the mesh, simplified to at most 128 triangles; None where they are stuck."""
    steps = list(smaller_meshes(top.indices, geometry, kept, settings.cluster_size))
    if not steps:
        return None
    meshes = [top.indices, *(indices for indices, _ in steps)]
    changes = independent_changes(meshes, geometry)
    plan = _Plan.of(changes, [error for _, error in steps], np.array([mesh.size // 3 for mesh in meshes]), geometry)
    # What follows would take time for all vertices of the mesh again and again.
    vertices, corners = local_vertices(changes.triangles.reshape(-1))
    near = Geometry(geometry.positions[vertices], geometry.unit_positions[vertices], geometry.scale)
    local = replace(top, indices=corners[: top.indices.size])
    corners, deviation = corners.reshape(-1, 3), None
    if settings.certified:
        known = np.repeat(top.deviation, top.sizes // 3, axis=0)
        deviation = change_deviations(changes, corners, known, near.positions, workers)
    table, first, gone_by = plan.clusters(local, corners, near, deviation, settings.cluster_size, countdown)
    return FineSteps.of(replace(table, indices=vertices[table.indices]), first, gone_by, len(plan.error))


@dataclass(frozen=True, eq=False)
class _Plan:
    """Which refinements there are.

    Attributes
    ----------
    made_by, gone_by : int64 [K], the refinement that makes each triangle and that takes it away; -1 for none.
    error : float64 [G], in the unit of the simplifier.
    halvings : int64 [G], below the top, without gaps.
    """

    made_by: np.ndarray
    gone_by: np.ndarray
    error: np.ndarray
    halvings: np.ndarray

    @classmethod
    def of(cls, changes: Changes, errors: list[float], sizes: np.ndarray, geometry: Geometry) -> _Plan:
        """From the error of each step and the triangles of each mesh."""
        enough = np.ceil(_PART * sizes[changes.step]).astype(np.int64)
        region = grown_regions(changes, geometry.by_position(changes.triangles), enough, _DEEPEST)
        last = np.zeros(int(region.max()) + 1, np.int64)
        np.maximum.at(last, region, changes.step)
        error = np.maximum.accumulate(errors)[last] * _LEVEL_PER_STEP
        halvings = np.ceil(np.log2(sizes[0] / sizes[last + 1]) - 1 / 16)
        made_by, gone_by = (np.where(by < 0, -1, region[by]) for by in (changes.made_by, changes.gone_by))
        return cls(made_by, gone_by, error, np.unique(halvings, return_inverse=True)[1].reshape(-1) + 1)

    def clusters(
        self,
        top: ClusterTable,
        triangles: np.ndarray,
        geometry: Geometry,
        deviation: np.ndarray | None,
        cluster_size: int,
        countdown: Countdown,
    ) -> tuple[ClusterTable, int, np.ndarray]:
        """All clusters, fine to coarse, how many are of the top, and which refinement takes away each.

        Parameters
        ----------
        triangles : uint32 [K, 3]; deviation : float32 [K, 2], of each of them; None where they are not known.
        """
        first, first_gone = split_by_taker(top, self.gone_by[: top.indices.size // 3], geometry, cluster_size)
        made = np.flatnonzero((self.made_by >= 0) & (self.made_by != self.gone_by))
        links = self.made_by[made], self.gone_by[made]
        nodes = Nodes.of(triangles[made], *links, geometry, cluster_size)
        table, gone_by = concatenate([first, nodes.table()]), np.concatenate([first_gone, nodes.gone_by])
        results, level = nodes.made(self.error), int(top.level.max()) + self.halvings
        made_at = len(first) + np.searchsorted(nodes.made_by, np.arange(len(self.error) + 1))
        members_at, members = group(gone_by, len(self.error))
        bounds = None if deviation is None else np.zeros((len(self.error), 2), np.float32)
        if bounds is not None and deviation is not None:
            np.maximum.at(bounds, self.made_by[made], deviation[made])
        for wave in waves(self.made_by, self.gone_by, len(self.error)):
            rows, offsets = take_runs(members, members_at, wave)
            groups = Groups(table.take(rows), offsets)
            products = coarse_clusters(
                groups,
                [results[r] for r in wave.tolist()],
                geometry,
                level=0,
                first_group=0,
                deviation=None if bounds is None else bounds[wave],
            )
            levels = np.maximum(level[wave], groups.reduce(np.maximum, groups.clusters.level))
            products = replace(products, level=levels[products.made_by], made_by=wave[products.made_by])
            countdown.advance((groups.clusters.indices.size - products.indices.size) // 3)
            table.write(np.concatenate([np.arange(*made_at[r : r + 2]) for r in wave.tolist()]), products)
        return table, len(first), gone_by
