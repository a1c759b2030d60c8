"""A mesh as a tree of tiles: every cut of the tree is a surface without cracks.

Tiles fill cells of space, which are halved at the median until few triangles are left.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from hra.domains.meshes.asset.mesh_asset import MeshAsset
from hra.domains.meshes.building.borders import Borders
from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.building.level import Groups, coarse_clusters, level_deviations
from hra.domains.meshes.building.levels import BuiltLevels, coarse_first
from hra.domains.meshes.building.part import Kept, simplify_part
from hra.domains.meshes.building.settings import Countdown, Progress, Workers, processors
from hra.domains.meshes.building.simplify import CoarseStep, Simplified
from hra.domains.meshes.building.source_clusters import level_zero
from hra.domains.meshes.distances.box_tree import nearest_distances
from hra.domains.meshes.mesh.cluster_mesh import ClusterMesh
from hra.domains.meshes.mesh.cluster_table import ClusterTable, concatenate
from hra.domains.meshes.mesh.point_grid import GRID_BITS, PointGrid
from hra.domains.meshes.mesh.ragged import run_offsets
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh, completed_normals
from hra.domains.meshes.mesh.weld import weld_wedges, without_degenerate
from hra.domains.meshes.tiles.tileset import TileTree
from hra.domains.meshes.tiles.whole import whole_mesh
from hra.errors import HraError, MeshError
from hra.model.arrays import group, whole_number

# Only used to cut what has been simplified, which is put together again.
_CLUSTER_SIZE = 128
_LEAST_TRIANGLES = 256


def build_tiles(
    source: str | Path | TriangleMesh | ClusterMesh | MeshAsset,
    tile_triangles: int = 8192,
    *,
    progress: Progress | None = None,
) -> TileTree:
    """Cut a mesh into tiles of up to ``tile_triangles`` and simplify four of them to one until one is left.

    A tile's border to others keeps every vertex of the source, on all levels: what lies beside it may be coarser or
    finer, and meets it without a crack. What four tiles shared among themselves moves once they are one.

    Parameters
    ----------
    source : mesh, mesh file, or what was built of one; without normals it gets those of its surface.
    tile_triangles : at least 256; coarse tiles of large meshes have more where their borders do.

    Raises
    ------
    HraError : fewer triangles a tile.
    MeshError : no triangle is left on the grid.
    FileError, MissingExtra, BackendUnavailable : see `load` and `open_asset`.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> tree = meshes.build_tiles(hra.samples.path("skull.ply"), tile_triangles=4096)
    >>> int((tree.parent < 0).sum()), tree.mesh.triangle_count, bool((tree.errors > 0).all())
    (1, 42480, True)
    """
    count = whole_number(tile_triangles)
    if count is None or count < _LEAST_TRIANGLES:
        fix = f"use {_LEAST_TRIANGLES} or more"
        raise HraError(f"tiles of {tile_triangles!r} triangles", where="tile_triangles", fix=fix)
    tile_triangles = count
    mesh, known = whole_mesh(source)
    shaded = _shaded(mesh)
    grid = PointGrid.around(shaded.positions, GRID_BITS)
    snapped = grid.positions(grid.snap(shaded.positions))
    positions, corners, attributes = weld_wedges(snapped, shaded.triangles, shaded.attributes)
    geometry = Geometry.of(positions, attributes)
    triangles = without_degenerate(corners, geometry.position_of)
    if not len(triangles):
        raise MeshError("all triangles of the mesh have two equal corners", where=repr(mesh))
    moved = float(np.linalg.norm(snapped.astype(np.float64) - shaded.positions, axis=1).max())
    moved += known + _reach_of_lost(positions, geometry.by_position(corners), geometry.by_position(triangles))
    with Workers(processors()) as workers:
        levels = _levels(geometry, triangles, tile_triangles, workers, Countdown(len(triangles), progress))
    tiles = replace(ClusterMesh.from_table(positions, *coarse_first(levels), attributes), origin=mesh.origin)
    return TileTree(tiles, grid, moved * (1 + 1e-12))


def _shaded(source: TriangleMesh) -> TriangleMesh:
    """The mesh with a normal for every vertex: tiles of all levels share them, so that no border shows."""
    mesh = source.with_normals()
    if mesh.attributes is None:
        return mesh
    return replace(mesh, attributes=replace(mesh.attributes, normals=completed_normals(mesh)))


def _reach_of_lost(positions: np.ndarray, corners: np.ndarray, kept: np.ndarray) -> float:
    """How far triangles that became lines on the grid are at most from those that are ``kept`` [F, 3]; 0 for sides."""
    a, b, c = corners.T
    lost = corners[(a == b) | (b == c) | (c == a)]
    # Two of a line's corners are its ends, whichever of the three are equal.
    ends = np.sort(np.column_stack([lost.min(axis=1), lost.max(axis=1)]), axis=1).astype(np.int64)
    sides = np.sort(kept[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1).astype(np.int64)
    shift = np.int64(len(positions))
    alone = ends[~np.isin(ends[:, 0] * shift + ends[:, 1], sides[:, 0] * shift + sides[:, 1])]
    if not len(alone):
        return 0.0
    points = positions[alone].astype(np.float64)
    near = nearest_distances(points.reshape(-1, 3), positions, np.ascontiguousarray(kept, np.uint32)).reshape(-1, 2)
    return float((near.max(axis=1) + np.linalg.norm(points[:, 1] - points[:, 0], axis=1) / 2).max())


def _levels(
    geometry: Geometry, triangles: np.ndarray, tile_triangles: int, workers: Workers, countdown: Countdown
) -> BuiltLevels:
    """All tiles, fine to coarse. A part that nothing simplifies is left out: its tiles get the next coarser parent."""
    built, borders = BuiltLevels(), Borders.of(geometry, triangles)
    depth, cell = cells_of(geometry.positions[triangles].mean(axis=1), tile_triangles)
    pending, places = _leaves(geometry, triangles, cell), geometry.by_position(triangles)
    rows, cell_of = built.add(pending), np.arange(len(pending))
    while depth > 0 or pending.indices.size > 3 * _LEAST_TRIANGLES:
        step, target = min(depth, 2), tile_triangles if depth > 0 else pending.indices.size // 12
        depth, cell, cell_of = depth - step, cell >> step, cell_of >> step
        shared = geometry.for_all_wedges(shared_vertices(places, cell, len(geometry.positions)))
        offsets, order = group(cell_of, 1 << depth)
        groups, rows = Groups(pending.take(order), offsets.astype(np.int64)), rows[order]
        results = _simplified(groups, geometry, Kept.of(shared, borders), target, workers, countdown)
        done = np.array([result is not None for result in results])
        if not done.any():
            if depth == 0:
                break
            pending, cell_of = groups.clusters, cell_of[order]
            continue
        deviation = level_deviations(groups, results, geometry, workers)
        numbers = {"level": len(built.tables), "first_group": len(built.members)}
        products = coarse_clusters(groups, results, geometry, **numbers, deviation=deviation)
        built.members += [rows[offsets[g] : offsets[g + 1]] for g in np.flatnonzero(done)]
        stuck = np.flatnonzero(~np.repeat(done, np.diff(offsets)))
        rows = np.concatenate([built.add(products), rows[stuck]])
        pending = concatenate([products, groups.clusters.take(stuck)])
        cell_of = np.concatenate([np.flatnonzero(done), cell_of[order][stuck]])
    countdown.finish()
    return built


def _simplified(
    groups: Groups, geometry: Geometry, kept: Kept, target: int, workers: Workers, countdown: Countdown
) -> list[Simplified | None]:
    """Each group of tiles as one tile, None where nothing simplifies it."""

    def simplify(group: int) -> Simplified | None:
        indices = groups.indices(group)
        share = min(0.5, 3 * target / indices.size)
        step = CoarseStep(_CLUSTER_SIZE, share, coarse=True)
        found = simplify_part(indices, indices.size, geometry, kept, step)
        return None if found is None else _as_one(found)

    results = list(workers.map(simplify, range(len(groups))))
    for number, result in enumerate(results):
        if result is not None:
            countdown.advance((groups.size(number) - result.indices.size) // 3)
    return results


def _as_one(parts: Simplified) -> Simplified:
    ends = np.array([0, parts.indices.size], np.int64)
    return Simplified(parts.indices, ends, np.array([np.unique(parts.indices).size], np.uint32), parts.error)


def _leaves(geometry: Geometry, triangles: np.ndarray, cell: np.ndarray) -> ClusterTable:
    """The source's triangles, a tile for each cell."""
    count = int(cell.max()) + 1
    order = np.argsort(cell, kind="stable")
    indices = np.ascontiguousarray(triangles[order]).reshape(-1).astype(np.uint32)
    offsets = run_offsets(3 * np.bincount(cell, minlength=count))
    vertices = np.array([np.unique(run).size for run in np.split(indices, offsets[1:-1])], np.int32)
    return level_zero(geometry, indices, offsets, vertices)


def cells_of(points: np.ndarray, most: int) -> tuple[int, np.ndarray]:
    """How often all ``points`` [F, 3] are halved until cells have at most ``most``, and the cell of each, int64 [F].

    Each cell is halved at the median of its longest axis; cells 2 c and 2 c + 1 are the halves of cell c.
    """
    depth = max(0, math.ceil(math.log2(len(points) / most)))
    cell = np.zeros(len(points), np.int64)
    runs = [np.arange(len(points))]
    for _ in range(depth):
        runs = [half for run in runs for half in _halves(points, run)]
    for number, run in enumerate(runs):
        cell[run] = number
    return depth, cell


def _halves(points: np.ndarray, run: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    own = points[run]
    axis = int(np.argmax(own.max(axis=0) - own.min(axis=0)))
    order = run[np.argsort(own[:, axis], kind="stable")]
    return order[: order.size // 2], order[order.size // 2 :]


def shared_vertices(triangles: np.ndarray, cell: np.ndarray, vertex_count: int) -> np.ndarray:
    """Vertices that triangles of several cells use, uint8 [V].

    Parameters
    ----------
    triangles : [F, 3], by position; cell : int64 [F].
    """
    low, high = np.full(vertex_count, np.iinfo(np.int64).max), np.full(vertex_count, -1)
    for corner in triangles.T:
        np.minimum.at(low, corner, cell)
        np.maximum.at(high, corner, cell)
    return (low < high).astype(np.uint8)
