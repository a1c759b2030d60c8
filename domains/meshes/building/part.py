"""A part of the mesh, or all of it, simplified with some vertices kept, by whatever leads on.

Vertex clustering is the coarser way, for surfaces whose topology lets no edge collapse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.meshes.building.borders import Borders
from hra.domains.meshes.building.creases import without_slivers
from hra.domains.meshes.building.geometry import HELD, Geometry
from hra.domains.meshes.building.simplify import CoarseStep, Simplified, simplify_group, split_into_clusters
from hra.domains.meshes.distances.surface import boundary_chain
from hra.domains.meshes.mesh.weld import without_degenerate

_FINEST = 2**12
# What a displacement counts: shapes suffer more than by collapsed edges (meshoptimizer's clusterlod.h takes 2 as well).
_ERROR_FACTOR = 2.0


@dataclass(frozen=True, eq=False)
class Kept:
    """The vertices that simplification leaves in place, uint8 [V], not 0 for those.

    Attributes
    ----------
    shared : of several groups, which no group may move.
    locked : those and what the source's borders need; with_borders : those and all border vertices.
    borders : of the source.
    """

    shared: np.ndarray
    locked: np.ndarray
    with_borders: np.ndarray
    borders: Borders

    @classmethod
    def of(cls, shared: np.ndarray, borders: Borders) -> Kept:
        """From ``shared`` and the borders of the source."""
        held = shared * np.uint8(1 | HELD)
        return cls(shared, held | borders.uneven, held | borders.ends, borders)


def simplify_part(
    indices: np.ndarray, vertex_references: int, geometry: Geometry, kept: Kept, step: CoarseStep
) -> Simplified | None:
    """The triangles ``indices`` uint32 [3 T] simplified by one ``step``; None where they are stuck.

    Where the result would leave the borders of the source, it is simplified again without moving any border vertex.

    Parameters
    ----------
    vertex_references : see `simplify_group`.
    """

    def attempt(locked: np.ndarray) -> Simplified | None:
        return simplify_group(indices, geometry, locked, vertex_references, step) or simplify_stuck_group(
            indices, geometry, kept.shared, locked, step
        )

    result = attempt(kept.locked)
    if result is not None and kept.borders.left_by(result.indices, indices, geometry):
        return attempt(kept.with_borders)
    return result


def simplify_stuck_group(
    indices: np.ndarray, geometry: Geometry, shared: np.ndarray, locked: np.ndarray, step: CoarseStep
) -> Simplified | None:
    """A stuck group's triangles at about the ``step``'s share: without islands, with clustered vertices, across charts.

    Whichever leaves the smallest error: islands of one size go all at once, and may be much more than is asked for.
    The first two do not mind ``locked`` vertices. Where a vertex is ``shared`` with other groups, only clustering is
    tried, without those, and only if the step is a coarse one: other groups can wait until they are put together with
    what they touch.

    Returns
    -------
    None where nothing helps.
    """
    alone = not shared[indices].any()
    if not (alone or step.coarse):
        return None
    # The locks are 0 or 1 a byte, which bools are too: no copy.
    found = [_cluster(indices, geometry, None if alone else shared.view(bool), step)]
    if alone:
        found.append(geometry.simplify(indices, locked, step.target(indices), prune=True))
    if alone and geometry.metric is not None:
        part = indices, geometry.unit_positions, locked, step.target(indices)
        found.append(geometry.metric.simplify_across(*part, geometry.charts))
    found = [(error, coarse) for coarse, error in found if step.reach(coarse, indices)]
    if not found:
        return None
    error, coarse = min(found, key=lambda pair: pair[0])
    return split_into_clusters(coarse, geometry.unit_positions, step.cluster_size, error)


def _cluster(
    indices: np.ndarray, geometry: Geometry, pinned: np.ndarray | None, step: CoarseStep
) -> tuple[np.ndarray, float]:
    """The triangles with clustered vertices, indices uint32 [3 S], and the error."""
    triangles, materials = geometry.by_position(indices).reshape(-1, 3), None
    if geometry.material is not None:
        materials = geometry.material[indices].reshape(-1, 3)
    target = step.target(indices) // 3
    moved, error = cluster_vertices(triangles, geometry.unit_positions, target, materials, pinned)
    return _with_wedges(indices, moved.astype(np.uint32), geometry), error


def _with_wedges(indices: np.ndarray, moved: np.ndarray, geometry: Geometry) -> np.ndarray:
    """The triangles ``moved`` [F, 3] with three positions as wedges like the corners ``indices`` [3 F] were, uint32."""
    if geometry.metric is None or geometry.position_of is None:
        return without_degenerate(moved).reshape(-1)
    corners = geometry.metric.nearest_wedges(indices, moved.reshape(-1), geometry.position_of, geometry.material)
    return without_slivers(corners, geometry.positions)


def cluster_vertices(
    triangles: np.ndarray,
    positions: np.ndarray,
    target: int,
    materials: np.ndarray | None = None,
    pinned: np.ndarray | None = None,
) -> tuple[np.ndarray, float]:
    """Merge the vertices in each cell of the finest grid that leaves at most ``target`` triangles.

    Every vertex moves to one of the vertices of its cell, and triangles that lose a corner are dropped. Such a map
    keeps boundary chains: what was closed stays closed, also where many faces meet in an edge. Borders move to border
    vertices, and vertices where materials meet to others where the same ones meet, so that every triangle finds its
    material at its new corners. Nothing else is kept, so the error is twice the largest displacement.

    Parameters
    ----------
    triangles : uint32 [F, 3], by position: vertices at the same position have the same number.
    positions : float32 [V, 3]; target : triangles.
    materials : integers [F, 3], the same at all corners of a triangle; None if there is only one.
    pinned : bool [V], vertices that stay, and that no other vertex moves to; None for none.

    Returns
    -------
    int64 [F, 3], where the corners of each triangle move to; the error in the unit of ``positions``.

    References
    ----------
    Rossignac and Borrel, Multi-resolution 3D approximations for rendering complex scenes, 1993.
    """
    vertices, corners = np.unique(triangles, return_inverse=True)
    corners = corners.reshape(triangles.shape)
    points = positions[vertices].astype(np.float64)
    points -= points.min(axis=0)
    unit = points / (points.max() or 1.0)
    kind = np.zeros(len(vertices), np.int64) if materials is None else _material_sets(corners, materials)
    if pinned is not None:
        # A kind of its own shares its cell with no other.
        alone = pinned[vertices]
        kind[alone] = kind.max(initial=0) + 1 + np.arange(alone.sum())
    # What the last grid leaves was counted; that no finer one fits holds only as far as counts grow with the grid.
    fits, fails = 1, _FINEST
    while fails - fits > 1:
        middle = (fits + fails) // 2
        few = _count(_cells(unit, middle, kind)[corners]) <= target
        fits, fails = (middle, fails) if few else (fits, middle)
    cells = _cells(unit, fits, kind)
    border = np.zeros(len(vertices), bool)
    border[boundary_chain(corners)[0]] = True
    kept = _representatives(cells, points, border)[cells]
    moved = np.linalg.norm(points - points[kept], axis=1).max()
    return vertices[kept][corners], _ERROR_FACTOR * float(moved)


def _material_sets(corners: np.ndarray, materials: np.ndarray) -> np.ndarray:
    """A number for the set of materials that meet at each vertex 0 .. n - 1 of ``corners`` [F, 3], int64 [n]."""
    _, material = np.unique(materials, return_inverse=True)
    material = material.reshape(-1)
    sets = np.zeros((int(corners.max()) + 1, int(material.max()) // 8 + 1), np.uint8)  # a bit for each material
    np.bitwise_or.at(sets, (corners.reshape(-1), material // 8), (1 << material % 8).astype(np.uint8))
    return np.unique(sets, axis=0, return_inverse=True)[1].reshape(-1)


def _cells(unit: np.ndarray, side: int, kind: np.ndarray) -> np.ndarray:
    """The cell of each point [n, 3] of the unit cube in a grid of ``side`` cells for each kind, without gaps."""
    # Twelve bits for each axis leave 27 for the kinds, one a vertex at most: int64 holds meshes of 1.3e8 vertices in a
    # group.
    x, y, z = np.minimum((unit * side).astype(np.int64), side - 1).T
    return np.unique(((kind * side + x) * side + y) * side + z, return_inverse=True)[1].reshape(-1)


def _count(corners: np.ndarray) -> int:
    a, b, c = corners.T
    return int(((a != b) & (b != c) & (c != a)).sum())


def _representatives(cells: np.ndarray, points: np.ndarray, border: np.ndarray) -> np.ndarray:
    """The vertex of each cell that is nearest to the mean of its vertices, of its border vertices if it has any."""
    count = np.bincount(cells)
    mean = np.stack([np.bincount(cells, points[:, axis]) / count for axis in range(3)], axis=1)
    distance = np.linalg.norm(points - mean[cells], axis=1)
    # The last key counts first: by cell, border vertices before others, near ones before far ones.
    order = np.lexsort((distance, ~border, cells))
    return order[np.searchsorted(cells[order], np.arange(len(count)))]
