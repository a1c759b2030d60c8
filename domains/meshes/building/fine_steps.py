"""The coarse levels in small local refinements, without borders that stay.

Groups of few clusters consist mostly of borders, which must stay while a group is simplified. Near the root
the mesh is therefore simplified as a whole, again and again, a little each time. What differs from step to step is
taken apart afterwards: into changes that can be made independently (`changes`), which are joined into
refinements of a few triangles that lie together (`regions`). A cluster is what one refinement adds and another one
removes, so that refinements share whatever they do not touch. How far each triangle is from the source is followed from
change to change.

Hoppe, View-dependent refinement of progressive meshes, 1997, orders single collapses alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from hra.compiling import njit
from hra.domains.meshes.building.changes import Changes, independent_changes
from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.building.level import Followed, Groups, coarse_clusters, shares
from hra.domains.meshes.building.part import Kept, simplify_part
from hra.domains.meshes.building.regions import distinct, grown_regions
from hra.domains.meshes.building.settings import Countdown, Settings, Workers
from hra.domains.meshes.building.sides import carried_deviations
from hra.domains.meshes.building.simplify import CoarseStep, Simplified, split_into_clusters
from hra.domains.meshes.building.source_clusters import own_bounds
from hra.domains.meshes.distances.surface import surface_area
from hra.domains.meshes.mesh.cluster_table import ClusterTable, concatenate
from hra.domains.meshes.mesh.meshopt import MAX_VERTICES
from hra.domains.meshes.mesh.ragged import local_vertices, take_runs
from hra.model.arrays import group

# A refinement saves at least such a part of the triangles, if as many changes lie together.
_PART = 1 / 256
# Steps that the changes of a refinement are apart at most: a quarter of a halving.
_DEEPEST = 2
# The error of a level beside that of one of its steps. There are twice as many triangles as vertices, and a vertex that
# goes changes about six: until half of them are gone, a place is simplified about twice. Squared distances add up.
_LEVEL_PER_STEP = math.sqrt(2)
# Small steps leave less error than halves (`examples/lab/docs/mesh-quality.md`): eight to a halving.
_SHARE = 2.0 ** (-1 / 8)
# Nothing is simplified further from so few triangles on: a box has 12.
ROOT = 16


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
    top: ClusterTable,
    geometry: Geometry,
    kept: Kept,
    settings: Settings,
    workers: Workers,
    countdown: Countdown,
    followed: Followed | None = None,
) -> FineSteps | None:
    """The clusters ``top``, which cover the mesh, simplified to at most 16 triangles; None where they are stuck.

    Parameters
    ----------
    followed : the surface that bounds are measured from, and where ``top`` is; None for a build without bounds.
    """
    steps = list(smaller_meshes(top.indices, geometry, kept, settings.cluster_size))
    if not steps:
        return None
    meshes = [top.indices, *(indices for indices, _ in steps)]
    changes = independent_changes(meshes, geometry)
    plan = _Plan.of(changes, [error for _, error in steps], np.array([mesh.size // 3 for mesh in meshes]), geometry)
    # What follows would take time for all vertices of the mesh again and again.
    vertices, corners = local_vertices(changes.triangles.reshape(-1))
    near = Geometry(geometry.positions[vertices], geometry.unit_positions[vertices], geometry.scale)
    if geometry.spare is not None:
        near = replace(near, spare=geometry.spare[vertices])
    local = replace(top, indices=corners[: top.indices.size])
    corners, deviation = corners.reshape(-1, 3), None
    if followed is not None:
        deviation = plan.deviations(changes.triangles, top, geometry.positions, followed, workers)
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

    def deviations(
        self, triangles: np.ndarray, top: ClusterTable, positions: np.ndarray, followed: Followed, workers: Workers
    ) -> np.ndarray:
        """Bounds on both sides for each of the ``triangles`` uint32 [K, 3] that lasts, float32 [K, 2]; else 0.

        Followed from refinement to refinement, see `carried_deviations`: what one of them makes and takes away again is
        in no cut.
        """
        result, rows = np.zeros((len(triangles), 2), np.float32), followed.triangles
        result[: len(rows)] = np.repeat(top.deviation, top.sizes // 3, axis=0)
        lasts = np.flatnonzero(self.made_by != self.gone_by)
        (gone_at, gone), (made_at, made) = (group(by[lasts], len(self.error)) for by in (self.gone_by, self.made_by))
        gone, made = lasts[gone], lasts[made]
        followed.carried.take(rows, len(result))
        indices = triangles[made].reshape(-1)
        found = carried_deviations(followed.carried, (gone_at, gone), (made_at, made), indices, positions, workers)
        result[made] = np.repeat(found, np.diff(made_at), axis=0)
        return result

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


def smaller_meshes(
    indices: np.ndarray, geometry: Geometry, kept: Kept, cluster_size: int
) -> Iterator[tuple[np.ndarray, float]]:
    """One mesh after the other with the error of its step, to at most 16 triangles, or where it is stuck.

    Parameters
    ----------
    indices : uint32 [3 T], to begin with.
    """
    while indices.size > 3 * ROOT:
        found = _step(indices, _SHARE, geometry, kept, cluster_size) or _step(
            indices, 0.5, geometry, kept, cluster_size
        )
        if found is None:
            return
        yield found
        indices = found[0]


def _step(
    indices: np.ndarray, share: float, geometry: Geometry, kept: Kept, cluster_size: int
) -> tuple[np.ndarray, float] | None:
    """A ``share`` of the triangles, and the error; where no edges can be collapsed, by whatever leads on."""
    step = CoarseStep(cluster_size, share)
    coarse, error = geometry.simplify(indices, kept.locked, step.target(indices))
    if step.reach(coarse, indices) and not kept.borders.left_by(coarse, indices, geometry):
        return coarse, error
    part = simplify_part(indices, indices.size, geometry, kept, step)
    return None if part is None else (part.indices, part.error)


def waves(made_by: np.ndarray, gone_by: np.ndarray, count: int) -> Iterator[np.ndarray]:
    """Numbers [n] of what needs only earlier waves, of 0 .. ``count`` - 1 that make and take away triangles [K]."""
    wave, both = np.zeros(count, np.int64), np.flatnonzero((made_by >= 0) & (gone_by > made_by))
    # In the order of what needs: by then all that it needs is known, as it has lower numbers.
    _number_waves(distinct(gone_by[both] * count + made_by[both]) if both.size else both, wave)
    offsets, order = group(wave, int(wave.max()) + 1)
    return (order[begin:end].astype(np.int64) for begin, end in pairwise(offsets.tolist()))


@njit(cache=True)
def _number_waves(needs, wave):
    for key in needs:
        one, other = key // wave.size, key % wave.size
        wave[one] = max(wave[one], wave[other] + 1)
