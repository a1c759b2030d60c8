"""3D Tiles from disk as a tree of tiles.

A tree is explicit, implicit or goes on in other tilesets. Contents are not opened, only their sizes are read.
"""

from __future__ import annotations

import base64
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, unquote_to_bytes, urlsplit

import numpy as np

from hra.domains.tiles.files.extensions import check_required, contents_of, overriding, tiling_of
from hra.domains.tiles.files.implicit import implicit_tiles, part_of, well_formed
from hra.domains.tiles.files.volumes import Volume, scale_of, volume_of
from hra.domains.tiles.tileset import Tileset, Volumes
from hra.errors import FileError, HraWarning, LimitExceeded, warn
from hra.files.json_text import parse_object
from hra.files.local_files import local_path, read_regular

_MOST_TILES = 2_000_000
_MOST_NESTED = 32
# Of the last row of a transform, 0, 0, 0, 1: some exporters write it with rounding.
_AFFINE = 1e-6
# 0.0 is what exporters wrote before 1.0; the tree is the same.
_VERSIONS = ("0.0", "1.0", "1.1")


def read_tileset(path: str | Path) -> Tileset:
    """Read a tileset with all tilesets and subtrees that it refers to; only the sizes of contents are read.

    Versions 1.0 and 1.1, explicit and implicit trees, boxes, spheres and regions, transforms, several contents a tile.
    A tile whose content is another tileset has that one's root as its child. Viewers go on to it whatever the tile's
    error is, so that this is at least its parent's here; a root that is nothing else gives way to the other one.
    Metadata are not read: tiles of implicit trees get their share of the root's volume and error.
    For 1.0 the extensions 3DTILES_multiple_contents and 3DTILES_implicit_tiling are read.

    Warns
    -----
    HraWarning : tiles have a viewerRequestVolume, or by the schema metadata with volumes or errors, which are ignored.

    Raises
    ------
    FileError : a file is missing, damaged or a folder, is not on this disk, lies outside of the tileset's folder,
        states another version, or requires an extension that is not known; a transform is not affine.
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
    if found.limited:
        many = f"{found.limited:,} of {len(found.parents):,} tiles"
        what = f"{path}: the viewerRequestVolume of {many} is ignored; they count wherever the eye is"
        warn(what, HraWarning)
    if found.overridden:
        named = ", ".join(sorted(found.overridden))
        what = f"{path}: {named} in metadata are ignored; tiles have the volumes and errors of the tree"
        warn(what, HraWarning)
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
    """Tiles while they are found.

    Attributes
    ----------
    folder : of the tileset that is read; below : what paths of files in it begin with.
    """

    folder: Path
    below: str = field(init=False)
    parents: list[int] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    additive: list[bool] = field(default_factory=list)
    volumes: list[Volume] = field(default_factory=list)
    # Whether the root adds where it does not say so: another tile may have given way to it.
    root_adds: bool = False
    # Tiles that want to be loaded only while the eye is within a volume of theirs.
    limited: int = 0
    # Semantics of metadata that may override volumes and errors of tiles.
    overridden: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.below = os.path.join(self.folder, "")

    def add_file(self, path: Path, parent: int, transform: np.ndarray, nested: int) -> None:
        """The tiles of the tileset at ``path`` below the tile ``parent``."""
        if nested > _MOST_NESTED:
            raise LimitExceeded(f"more than {_MOST_NESTED} tilesets within one another", where=str(path))
        record = parse_object(read_regular(path), "tileset", str(path))
        with well_formed(str(path)):
            _check_version(record, str(path))
            check_required(record, str(path))
        if not isinstance(record.get("root"), dict):
            raise FileError("the tileset has no root", where=str(path))
        waiting, described = [(record["root"], parent, transform)], False
        while waiting:
            tile, above, moved = waiting.pop()
            with well_formed(f"{path}, tile {len(self.parents)}"):
                moved = moved @ _transform(tile, path) if "transform" in tile else moved
                number = self._add_tile(tile, above, moved, path, nested)
                described |= "metadata" in tile or tiling_of(tile) is not None
                children = tile.get("children", [])
                waiting += [(child, number, moved) for child in reversed(children)]
        if described:
            self.overridden |= overriding(record, lambda uri: self._read(uri, path))

    def _add_tile(self, tile: Any, above: int, moved: np.ndarray, path: Path, nested: int) -> int:
        """One tile of a tileset, or all of an implicit tree; the number that its children have above them."""
        where = f"{path}, tile {len(self.parents)}"
        error, volume = float(tile["geometricError"]), tile["boundingVolume"]
        uris, tiling = contents_of(tile, where), tiling_of(tile)
        self.limited += "viewerRequestVolume" in tile
        scale, refine = scale_of(moved), tile.get("refine")
        if refine not in (None, "ADD", "REPLACE", "add", "replace"):
            raise FileError(f"a tile refines by {str(refine)[:40]!r}", where=where, fix="ADD and REPLACE are known")
        inherited = self.additive[above] if above >= 0 else self.root_adds
        additive = inherited if refine is None else refine.upper() == "ADD"
        if tiling is None and above < 0 and self._only_refers(tile, uris, path):
            self.root_adds = additive
            self.add_file(Path(self._local(uris[0], path)), above, moved, nested + 1)
            return above
        if tiling is None:
            number = self._append(above, error * scale, volume_of(volume, moved, where), additive, where)
            self._add_contents(number, uris, moved, path, nested)
            return number
        first, scheme = len(self.parents), tiling["subdivisionScheme"]
        for one in implicit_tiles(tiling, uris, lambda uri: self._read(uri, path), where):
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
            if _is_data(uri):
                self.sizes[number] += len(_embedded(uri, str(path)))
                self.names[number] = self.names[number] or uri.partition(",")[0]
                continue
            file = self._local(uri, path)
            if _is_tileset(file):
                # Viewers go through such a tile whatever its error is: they come as far as the tile above it.
                self.errors[number] = max(self.errors[number], self.errors[max(self.parents[number], 0)])
                self.add_file(Path(file), number, moved, nested + 1)
                continue
            try:
                found = os.stat(file)
            except OSError as error:
                raise FileError(f"a content is missing: {error.strerror}", where=file) from error
            if not stat.S_ISREG(found.st_mode):
                fix = "name the file, or leave the content out"
                raise FileError(f"a content is no file: {uri[:200]!r}", where=file, fix=fix)
            self.sizes[number] += found.st_size
            self.names[number] = self.names[number] or file[len(self.below) :].replace(os.sep, "/")

    def _only_refers(self, tile: Any, uris: list[str], path: Path) -> bool:
        """Whether a tile has another tileset as its content and nothing else."""
        alone = len(uris) == 1 and not tile.get("children") and not _is_data(uris[0])
        return alone and _is_tileset(self._local(uris[0], path))

    def _read(self, uri: Any, path: Path) -> bytes:
        """The bytes of a subtree, or of what it refers to."""
        return _data(uri) if _is_data(uri) else read_regular(self._local(uri, path))

    def _local(self, uri: Any, path: Path) -> str:
        """The file that ``uri`` names in the tileset at ``path``; as text, since paths take as long as all the rest."""
        parts = urlsplit(str(uri))
        if not isinstance(uri, str) or "\0" in uri or "%00" in uri or parts.scheme or parts.netloc:
            fix = "copy the whole tileset to this disk"
            raise FileError(f"a content is not on this disk: {str(uri)[:200]!r}", where=str(path), fix=fix)
        file = os.path.normpath(os.path.join(os.path.dirname(path), unquote(parts.path)))
        if not os.path.join(file, "").startswith(self.below):
            what = f"a content lies outside of the folder that is read: {uri[:200]!r} is not below {self.folder}"
            fix = "move it there, or read a tileset in a folder above both that has this one as its content"
            raise FileError(what, where=str(path), fix=fix)
        return file


def _is_tileset(file: str) -> bool:
    return file.lower().endswith(".json")


def _is_data(uri: Any) -> bool:
    return isinstance(uri, str) and uri[:5].lower() == "data:"


def _data(uri: str) -> bytes:
    """What is embedded in a ``data:`` uri."""
    head, comma, text = uri.partition(",")
    if not comma:
        raise ValueError("a data: uri without a comma")
    plain = unquote_to_bytes(text)
    return base64.b64decode(plain, validate=True) if head.lower().endswith(";base64") else plain


def _embedded(uri: str, where: str) -> bytes:
    """An embedded content.

    Raises
    ------
    FileError : it is a tileset, whose tiles would be missed.
    """
    data = _data(uri)
    if data.lstrip()[:1] == b"{" and "root" in parse_object(data, "content", where):
        fix = "write it to a file of its own"
        raise FileError("a content is a tileset in a data: uri", where=where, fix=fix)
    return data


def _check_version(record: dict[str, Any], where: str) -> None:
    """Refuse a tileset of another version, whose values may mean something else; one that states none passes."""
    version = record.get("asset", {}).get("version", _VERSIONS[-1])
    if str(version) not in _VERSIONS:
        what = f"version {str(version)[:40]} of the tileset is not read, only 1.0 and 1.1"
        raise FileError(what, where=where, fix="export it as 3D Tiles 1.1")


def _transform(tile: Any, path: Path) -> np.ndarray:
    values = tile["transform"]
    if values is None:
        return np.eye(4)
    try:
        matrix = np.array(values, np.float64).reshape(4, 4).T
        if not np.isfinite(matrix).all():
            raise ValueError
    except (TypeError, ValueError, OverflowError) as error:
        raise FileError("a transform is not 16 finite numbers", where=str(path)) from error
    if np.abs(matrix[3] - (0, 0, 0, 1)).max() > _AFFINE:
        what = f"a transform is not affine: the last row of its matrix is {matrix[3].tolist()}"
        raise FileError(what, where=str(path), fix="write matrices column by column, the translation last, then 1")
    return matrix
