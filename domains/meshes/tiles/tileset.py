"""A mesh in tiles, and its files by 3D Tiles 1.1.

Tiles are GLB files; ``tileset.json`` says where they are and how far from the source.

Open Geospatial Consortium, 3D Tiles Specification 1.1, 22-025r4.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hra.domains.meshes.mesh.cluster_mesh import ClusterMesh
from hra.domains.meshes.mesh.point_grid import PointGrid
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh
from hra.domains.meshes.tiles.content import SharedTextures, compressed_glb, with_own_textures
from hra.files.atomic_write import write_folder
from hra.files.local_files import make_folder

TILESET = "tileset.json"


@dataclass(frozen=True, eq=False)
class TileTree:
    """A mesh in tiles.

    Attributes
    ----------
    mesh : a node is a tile, coarse to fine, and a refinement swaps a tile for its children. All vertices are points of
        the ``grid``; "hausdorff" counts from the finest tiles.
    grid : of all tiles.
    moved : how far the finest tiles are from the source at most, object units.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> tree = meshes.build_tiles(hra.samples.path("skull.ply"))
    >>> meshes.check(tree.mesh, cuts=20, samples=10).cracked_cuts
    0
    """

    mesh: ClusterMesh
    grid: PointGrid
    moved: float

    @property
    def parent(self) -> np.ndarray:
        """The tile that each was simplified to, int64 [N]; -1 for the root."""
        hierarchy = self.mesh.hierarchy
        if not len(hierarchy):
            return np.full(len(hierarchy.added_by), -1, np.int64)
        made = np.full(len(hierarchy), -1, np.int64)
        rows = np.flatnonzero(hierarchy.removed_by >= 0)
        made[hierarchy.removed_by[rows]] = rows
        return np.where(hierarchy.added_by >= 0, made[hierarchy.added_by], -1)

    @property
    def errors(self) -> np.ndarray:
        """Bounds on the distance between each tile and its part of the source, float64 [N], object units, monotone."""
        return self.mesh.hierarchy.attribute("hausdorff").astype(np.float64) + self.moved

    def save(self, folder: str | Path) -> list[Path]:
        """Write 3D Tiles 1.1: ``tileset.json`` and a GLB file for each tile; the paths, the tileset first.

        Contents are compressed by EXT_meshopt_compression, with the part of each texture that the tile shows.
        ``manifest.json`` lists lengths and sums of all files.

        Raises
        ------
        FileError : the folder cannot be made or written; files in it are then as they were.
        ImageError, MissingExtra : a texture cannot be decoded.
        """
        return write_tileset(self, folder)


def write_tileset(tree: TileTree, folder: str | Path) -> list[Path]:
    """Write the tiles, ``tileset.json`` and a ``manifest.json`` of all files; paths, the tileset first.

    Raises
    ------
    FileError : the folder cannot be made or written; files in it are then as they were.
    """
    make_folder(folder)
    files = {TILESET: json.dumps(tileset(tree), indent=1).encode()} | dict(tile_files(tree))
    write_folder(folder, files)
    return [Path(folder) / name for name in files]


def tile_files(tree: TileTree) -> Iterator[tuple[str, bytes]]:
    """Name and content of the file of each tile, and of each image that tiles share."""
    shares = _shares(tree)
    shared = SharedTextures((tile_mesh(tree, tile), share) for tile, share in enumerate(shares))
    for tile, share in enumerate(shares):
        yield (
            _name(tile),
            compressed_glb(with_own_textures(tile_mesh(tree, tile), share, shared), tree.grid, shared.files),
        )
    yield from ((name, content) for content, name in shared.files.items())


def tile_mesh(tree: TileTree, tile: int) -> TriangleMesh:
    """The triangles of one tile with the vertices that they use."""
    return tree.mesh.mesh(np.array([tile]))


def tileset(tree: TileTree) -> dict[str, Any]:
    """What ``tileset.json`` says.

    Geometric errors are the tiles' certified errors, in object units: what is not there when a tile is drawn instead of
    the source. glTF's y axis points up, that of tilesets is z: boxes are turned as viewers turn contents.
    """
    root = int(np.flatnonzero(tree.parent < 0)[0])
    return {
        "asset": {"version": "1.1", "generator": "hra"},
        "geometricError": _extent(tree),
        "root": _tile(tree, root, _children(tree)) | {"refine": "REPLACE"},
    }


def _extent(tree: TileTree) -> float:
    """The diagonal: what is missing while nothing is drawn."""
    low, high = tree.mesh.bounds.astype(np.float64)
    return max(float(np.linalg.norm(high - low)), float(tree.errors.max()))


def _children(tree: TileTree) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in tree.parent]
    for tile, parent in enumerate(tree.parent.tolist()):
        if parent >= 0:
            children[parent].append(tile)
    return children


def _tile(tree: TileTree, tile: int, children: list[list[int]]) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "boundingVolume": {"box": _box(tree.mesh.hierarchy.attribute("box")[tile] + np.array(tree.mesh.origin))},
        "geometricError": float(tree.errors[tile]),
        "content": {"uri": _name(tile)},
    }
    if children[tile]:
        entry["children"] = [_tile(tree, child, children) for child in children[tile]]
    return entry


def _box(corners: np.ndarray) -> list[float]:
    """Centre and half axes of the box between ``corners`` [2, 3], turned from y up to z up."""
    (x, y, z), (a, b, c) = corners.mean(axis=0), (corners[1] - corners[0]) / 2
    return [float(v) for v in (x, -z, y, a, 0, 0, 0, c, 0, 0, 0, b)]


def _shares(tree: TileTree) -> list[float]:
    """The share of the source's triangles that each tile has of its part."""
    counts = tree.mesh.triangles_per_cluster
    beneath = np.where(tree.mesh.hierarchy.attribute("level") == 0, counts, 0)
    parent = tree.parent
    for tile in range(len(parent) - 1, 0, -1):
        beneath[parent[tile]] += beneath[tile]
    return np.minimum(counts / beneath, 1.0).tolist()


def _name(tile: int) -> str:
    return f"tile{tile:04}.glb"
