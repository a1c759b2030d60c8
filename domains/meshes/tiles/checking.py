"""Checks of a tileset that was written: what viewers get, read back from the files themselves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hra.domains.meshes.distances.surface import boundary_chain
from hra.domains.meshes.files.gltf_scene import GltfScene
from hra.domains.meshes.mesh.weld import weld
from hra.domains.meshes.tiles.tileset import TILESET
from hra.files.json_text import parse_object
from hra.files.local_files import local_path, read_regular
from hra.model.arrays import whole_in

# Each takes a pass over its triangles: more would seem to hang.
_MOST_CUTS = 1_000_000


@dataclass(frozen=True)
class TilesetReport:
    """What `check_tileset` found. The first four counts are of violations, all 0 for a sound tileset.

    Attributes
    ----------
    cracked_cuts : random refinements whose surface ends where the finest tiles do not.
    falling_errors : tiles with a smaller geometric error than one of their children.
    loose_boxes : tiles whose content sticks out of their own box, or their box out of their parent's.
    empty_tiles : tiles without a triangle.
    cuts, tiles, triangles : refinements that were tried, tiles, and triangles of the finest tiles.
    closed : whether the finest tiles have no border.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> files = meshes.build_tiles(hra.samples.path("skull.ply"), 4096).save("tiles")
    >>> meshes.check_tileset("tiles", cuts=20).sound
    True
    """

    cracked_cuts: int
    falling_errors: int
    loose_boxes: int
    empty_tiles: int
    cuts: int
    tiles: int
    triangles: int
    closed: bool

    @property
    def sound(self) -> bool:
        """Whether nothing was violated."""
        return not any((self.cracked_cuts, self.falling_errors, self.loose_boxes, self.empty_tiles))


@dataclass(frozen=True, eq=False)
class _Tile:
    error: float
    box: np.ndarray
    corners: np.ndarray
    children: tuple[_Tile, ...]


def check_tileset(folder: str | Path, *, cuts: int = 200, seed: int = 0) -> TilesetReport:
    """Read a tileset that `TileTree.save` wrote and test it: no cracks, monotone errors, boxes around contents.

    Cracks are looked for on random cuts of the tree, from the root to the finest tiles, as positions that viewers
    decode: places on the grid times the step.

    Raises
    ------
    FileError : a file is missing or damaged.
    HraError : ``cuts`` is not a whole number from 0 to 1,000,000, or ``seed`` none >= 0.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> files = meshes.build_tiles(hra.samples.path("skull.ply"), 4096).save("tiles")
    >>> meshes.check_tileset("tiles", cuts=20).cracked_cuts
    0
    """
    folder, cuts, seed = local_path(folder), whole_in("cuts", cuts, range(_MOST_CUTS + 1)), whole_in("seed", seed)
    path = folder / TILESET
    header = parse_object(read_regular(path), "tileset", str(path))
    _, origin = glb_corners(folder / header["root"]["content"]["uri"])
    root, rng = _read(header["root"], folder, origin), np.random.default_rng(seed)
    tiles = _all(root)
    places = _places(tiles)
    border = _ends(places, [tile for tile in tiles if not tile.children])
    cracked = sum(not _ends(places, _random_cut(root, rng, rng.random())) <= border for _ in range(cuts))
    pairs = [(tile, child) for tile in tiles for child in tile.children]
    loose = [not _within(_extent(tile.corners), tile.box) for tile in tiles]
    loose += [not _within(child.box, tile.box) for tile, child in pairs]
    return TilesetReport(
        cracked_cuts=cracked,
        falling_errors=sum(tile.error < child.error for tile, child in pairs),
        loose_boxes=sum(loose),
        empty_tiles=sum(not len(tile.corners) for tile in tiles),
        cuts=cuts,
        tiles=len(tiles),
        triangles=sum(len(tile.corners) for tile in tiles if not tile.children),
        closed=not border,
    )


def _read(entry: dict[str, Any], folder: Path, origin: np.ndarray) -> _Tile:
    """A tile and those below, relative to the place of the root: float32 holds the places of no map."""
    box = np.array(entry["boundingVolume"]["box"])
    (x, z, y), (a, b, c) = box[:3] * (1, -1, 1), box[[3, 11, 7]]
    corners = np.array([[x - a, y - b, z - c], [x + a, y + b, z + c]]) - origin
    children = tuple(_read(child, folder, origin) for child in entry.get("children", []))
    own, place = glb_corners(folder / entry["content"]["uri"])
    return _Tile(entry["geometricError"], corners, (own + (place - origin)).astype(np.float32), children)


def glb_corners(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """The corners of all triangles of a file that `compressed_glb` made, float64 [F, 3, 3], and their node's place [3].

    Raises
    ------
    FileError : the file is missing or damaged.
    """
    scene = GltfScene.open(path)
    node, parts = scene.header["nodes"][0], []
    for k, primitive in enumerate(scene.accessors.header["meshes"][0]["primitives"]):
        places = scene.accessors.array(primitive["attributes"]["POSITION"])
        parts.append((places * np.float64(node["scale"][0]))[scene.triangles((0, k))])
    return np.concatenate(parts), np.array(node["translation"])


def _all(tile: _Tile) -> list[_Tile]:
    return [tile, *(below for child in tile.children for below in _all(child))]


def _random_cut(tile: _Tile, rng: np.random.Generator, finer: float) -> list[_Tile]:
    """A cut on which each tile is refined with the probability ``finer``."""
    if not tile.children or rng.random() > finer:
        return [tile]
    return [below for child in tile.children for below in _random_cut(child, rng, finer)]


def _places(tiles: list[_Tile]) -> dict[_Tile, np.ndarray]:
    """The triangles of each tile as numbers of positions, [F, 3]; equal positions have one number."""
    corners = np.concatenate([tile.corners for tile in tiles]).reshape(-1, 3)
    places = weld(corners, np.arange(len(corners)).reshape(-1, 3))[1]
    ends = np.cumsum([len(tile.corners) for tile in tiles])[:-1]
    return dict(zip(tiles, np.split(places, ends), strict=True))


def _ends(places: dict[_Tile, np.ndarray], tiles: list[_Tile]) -> set[int]:
    """Where the surface of some tiles ends."""
    return set(np.unique(boundary_chain(np.concatenate([places[tile] for tile in tiles]))[0]).tolist())


def _extent(corners: np.ndarray) -> np.ndarray:
    points = corners.reshape(-1, 3)
    return np.stack([points.min(axis=0), points.max(axis=0)]).astype(np.float64)


def _within(inner: np.ndarray, outer: np.ndarray) -> bool:
    """Whether a box lies in another one, apart from the rounding of centres and half axes."""
    slack = 1e-9 * np.abs(outer).max()
    return bool((inner[0] >= outer[0] - slack).all() and (inner[1] <= outer[1] + slack).all())
