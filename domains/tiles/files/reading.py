"""3D Tiles from disk as a tree of tiles.

Bounding volumes are boxes, spheres or regions, moved by transforms.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np

from hra.domains.tiles.files.implicit import implicit_tiles, part_of, well_formed
from hra.domains.tiles.tileset import Tileset, Volumes
from hra.errors import FileError, LimitExceeded
from hra.files.json_text import parse_object
from hra.files.local_files import local_path, read_regular

_MOST_TILES = 2_000_000
_MOST_NESTED = 32
# WGS 84, which regions are given in.
_EQUATOR, _FLATTENING = 6378137.0, 1 / 298.257223563
Volume = tuple[np.ndarray, np.ndarray, float]


"""Centre [3], half axes [3, 3] and radius."""


def volume_of(record: Any, transform: np.ndarray, where: str) -> Volume:
    """The volume ``record`` in the frame of the tileset.

    Parameters
    ----------
    transform : float64 [4, 4], column vectors.

    Raises
    ------
    FileError : no such volume.
    """
    kind = next((kind for kind in ("box", "sphere", "region") if isinstance(record, dict) and kind in record), None)
    size = {"box": 12, "sphere": 4, "region": 6, None: 0}[kind]
    values = np.array(record[kind] if kind else [], dtype=object)
    if not size or values.shape != (size,) or not all(isinstance(v, (int, float)) and math.isfinite(v) for v in values):
        fix = "a tile has a box of 12, a sphere of 4 or a region of 6 numbers"
        raise FileError("a tile has no bounding volume that is known", where=where, fix=fix)
    numbers = values.astype(np.float64)
    if kind == "region":
        return _region(numbers)
    center = transform[:3, :3] @ numbers[:3] + transform[:3, 3]
    if kind == "box":
        return center, numbers[3:].reshape(3, 3) @ transform[:3, :3].T, 0.0
    return center, np.zeros((3, 3)), float(numbers[3]) * scale_of(transform)


def scale_of(transform: np.ndarray) -> float:
    """How much a transform lengthens at most along its axes: what geometric errors grow by."""
    return float(np.linalg.norm(transform[:3, :3], axis=0).max())


def _region(numbers: np.ndarray) -> Volume:
    """A box along the earth's axes around a region, which transforms do not move."""
    west, south, east, north, low, high = numbers.tolist()
    east += 2 * math.pi if east < west else 0.0
    steps = np.linspace(0, 1, 17)
    longitude, latitude = np.meshgrid(west + (east - west) * steps, south + (north - south) * steps)
    points = np.concatenate([_earth_centred(longitude, latitude, height) for height in (low, high)])
    # Between two samples the surface bulges beyond their chord by no more than this.
    angle = max(east - west, north - south) / (steps.size - 1)
    bulge = (_EQUATOR + max(high, 0.0)) * (1 - math.cos(min(angle, math.pi) / 2)) * 2
    lowest, highest = points.min(axis=0) - bulge, points.max(axis=0) + bulge
    return (lowest + highest) / 2, np.diag((highest - lowest) / 2), 0.0


def _earth_centred(longitude: np.ndarray, latitude: np.ndarray, height: float) -> np.ndarray:
    squared = _FLATTENING * (2 - _FLATTENING)
    normal = _EQUATOR / np.sqrt(1 - squared * np.sin(latitude) ** 2)
    across = (normal + height) * np.cos(latitude)
    up = (normal * (1 - squared) + height) * np.sin(latitude)
    return np.stack([across * np.cos(longitude), across * np.sin(longitude), up], axis=-1).reshape(-1, 3)


def read_tileset(path: str | Path) -> Tileset:
    """Read a tileset with all tilesets and subtrees that it refers to; of contents only the sizes are read.

    Versions 1.0 and 1.1, explicit and implicit trees, boxes, spheres and regions, transforms, several contents a tile.
    A tile whose content is another tileset has that one's root as its child. Bounding volumes in the metadata of
    subtrees are not read: tiles of implicit trees get their share of the root's.

    Raises
    ------
    FileError : a file is missing or damaged, is not on this disk, or lies outside of the tileset's folder.
    LimitExceeded : more than two million tiles, or 32 tilesets within one another.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes, tiles
    >>> files = meshes.build_tiles(hra.samples.path("skull.ply"), 4096).save("tiles")
    >>> tiles.read_tileset("tiles/tileset.json").names[0]
    'tile0000.glb'
    """
    root = Path(os.path.abspath(local_path(path)))
    found = _Found(root.parent)
    found.add_file(root, -1, np.eye(4), 0)
    center, axes, radius = (np.array(column, np.float64) for column in zip(*found.volumes, strict=True))
    return Tileset(
        np.array(found.parents, np.int64),
        np.array(found.errors, np.float64),
        np.array(found.sizes, np.int64),
        tuple(found.names),
        np.array(found.additive, np.bool_),
        Volumes(center, axes.reshape(-1, 3, 3), radius),
        str(path),
    )


@dataclass
class _Found:
    """Tiles while they are found."""

    folder: Path
    parents: list[int] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    additive: list[bool] = field(default_factory=list)
    volumes: list[Volume] = field(default_factory=list)

    def add_file(self, path: Path, parent: int, transform: np.ndarray, nested: int) -> None:
        """The tiles of the tileset at ``path`` below the tile ``parent``."""
        if nested > _MOST_NESTED:
            raise LimitExceeded(f"more than {_MOST_NESTED} tilesets within one another", where=str(path))
        record = parse_object(read_regular(path), "tileset", str(path))
        if not isinstance(record.get("root"), dict):
            raise FileError("the tileset has no root", where=str(path))
        waiting = [(record["root"], parent, transform)]
        while waiting:
            tile, above, moved = waiting.pop()
            with well_formed(f"{path}, tile {len(self.parents)}"):
                moved = moved @ _transform(tile, path)
                number = self._add_tile(tile, above, moved, path, nested)
                children = tile.get("children", [])
                waiting += [(child, number, moved) for child in reversed(children)]

    def _add_tile(self, tile: Any, above: int, moved: np.ndarray, path: Path, nested: int) -> int:
        """One tile of a tileset, or all of an implicit tree; the number that its children have above them."""
        where = f"{path}, tile {len(self.parents)}"
        error, volume = float(tile["geometricError"]), tile["boundingVolume"]
        entries = tile.get("contents", [tile["content"]] if "content" in tile else [])
        uris = [entry["uri"] if "uri" in entry else entry["url"] for entry in entries]
        scale, refine = scale_of(moved), tile.get("refine")
        if refine not in (None, "ADD", "REPLACE", "add", "replace"):
            raise FileError(f"a tile refines by {str(refine)[:40]!r}", where=where, fix="ADD and REPLACE are known")
        inherited = above >= 0 and self.additive[above]
        additive = inherited if refine is None else refine.upper() == "ADD"
        if "implicitTiling" not in tile:
            number = self._append(above, error * scale, volume_of(volume, moved, where), additive, where)
            self._add_contents(number, uris, moved, path, nested)
            return number
        first, scheme = len(self.parents), tile["implicitTiling"]["subdivisionScheme"]
        for one in implicit_tiles(tile, lambda uri: read_regular(self._local(uri, path)), where):
            own = volume_of(part_of(volume, scheme, one.level, one.place, where), moved, where)
            parent = above if one.parent < 0 else first + one.parent
            number = self._append(parent, error * scale / 2**one.level, own, additive, where)
            self._add_contents(number, list(one.contents), moved, path, nested)
        return first

    def _append(self, above: int, error: float, volume: Volume, additive: bool, where: str) -> int:
        if len(self.parents) >= _MOST_TILES:
            raise LimitExceeded(f"more than {_MOST_TILES:,} tiles", where=where)
        if not 0 <= error < float("inf"):
            raise FileError(f"a geometric error of {error}", where=where)
        self.parents.append(above)
        self.errors.append(error)
        self.volumes.append(volume)
        self.sizes.append(0)
        self.additive.append(additive)
        self.names.append("")
        return len(self.parents) - 1

    def _add_contents(self, number: int, uris: list[str], moved: np.ndarray, path: Path, nested: int) -> None:
        """The sizes of contents; a content that is a tileset becomes the tiles below this one."""
        for uri in uris:
            file = self._local(uri, path)
            if file.suffix.lower() == ".json":
                self.add_file(file, number, moved, nested + 1)
                continue
            try:
                self.sizes[number] += file.stat().st_size
            except OSError as error:
                raise FileError(f"a content is missing: {error.strerror}", where=str(file)) from error
            self.names[number] = self.names[number] or file.relative_to(self.folder).as_posix()

    def _local(self, uri: Any, path: Path) -> Path:
        """The file that ``uri`` names in the tileset at ``path``."""
        parts = urlsplit(str(uri))
        if not isinstance(uri, str) or "\0" in uri or "%00" in uri or parts.scheme or parts.netloc:
            fix = "copy the whole tileset to this disk"
            raise FileError(f"a content is not on this disk: {str(uri)[:200]!r}", where=str(path), fix=fix)
        file = Path(os.path.normpath(path.parent / unquote(parts.path)))
        if not file.is_relative_to(self.folder):
            raise FileError(f"a content lies outside of the tileset's folder: {uri[:200]!r}", where=str(path))
        return file


def _transform(tile: Any, path: Path) -> np.ndarray:
    values = tile.get("transform") if isinstance(tile, dict) else None
    if values is None:
        return np.eye(4)
    try:
        matrix = np.array(values, np.float64).reshape(4, 4).T
        if np.isfinite(matrix).all():
            return matrix
        raise ValueError
    except (TypeError, ValueError, OverflowError) as error:
        raise FileError("a transform is not 16 finite numbers", where=str(path)) from error
