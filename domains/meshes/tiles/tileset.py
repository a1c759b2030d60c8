"""3D Tiles 1.1: tiles as GLB files and ``tileset.json``, which says where they are and how far from the source.

Open Geospatial Consortium, 3D Tiles Specification 1.1, 22-025r4.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh
from hra.domains.meshes.tiles.content import compressed_glb
from hra.domains.meshes.tiles.textures import with_own_textures
from hra.errors import FileError
from hra.files.atomic_write import write_folder

if TYPE_CHECKING:
    from hra.domains.meshes.tiles.tile_tree import TileTree

TILESET = "tileset.json"


def write_tileset(tree: TileTree, folder: str | Path) -> list[Path]:
    """Write the tiles, ``tileset.json`` and a ``manifest.json`` of all files; paths, the tileset first.

    Raises
    ------
    FileError : the folder cannot be made or written; files in it are then as they were.
    """
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"the folder cannot be made: {error.strerror}", where=str(folder)[:500]) from error
    files = {TILESET: json.dumps(tileset(tree), indent=1).encode()} | dict(tile_files(tree))
    write_folder(folder, files)
    return [Path(folder) / name for name in files]


def tile_files(tree: TileTree) -> Iterator[tuple[str, bytes]]:
    """Name and content of the file of each tile."""
    shares = _shares(tree)
    for tile in range(len(tree.parent)):
        yield _name(tile), compressed_glb(with_own_textures(tile_mesh(tree, tile), shares[tile]), tree.grid)


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
        "boundingVolume": {"box": _box(tree.mesh.hierarchy.attribute("box")[tile].astype(np.float64))},
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
