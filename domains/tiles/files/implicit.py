"""The tiles of an implicit tileset, one by one, from subtrees that say which are there and which have contents.

3D Tiles 1.1, section "Implicit tiling"; binary subtrees hold JSON and bit streams.
"""

from __future__ import annotations

import posixpath
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from hra.domains.tiles.files.extensions import availability_of, check_required
from hra.domains.tiles.files.volumes import width_of
from hra.errors import FileError, LimitExceeded
from hra.files.json_text import parse_object

_AXES = {"QUADTREE": 2, "OCTREE": 3}
_MOST_LEVELS = 21
# Of the places of a subtree's tiles: a constant may stand for all of them, so that no file has to be large.
_MOST_BITS = 24
# Of one subtree: 64 bytes of JSON can say that all of them are there.
_MOST_TILES = 2**17
_MAGIC, _HEADER = b"subt", struct.Struct("<4sIQQ")


@contextmanager
def well_formed(where: str) -> Iterator[None]:
    """What goes wrong because a value is missing, or of another type or size, becomes a FileError.

    Every value of a tileset may be anything: this is one test for all of them instead of hundreds.
    """
    try:
        yield
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, OverflowError) as error:
        reason = f"there is no {error}" if isinstance(error, KeyError) else str(error)[:200]
        raise FileError(f"the tileset is malformed: {reason}", where=where, fix="export it again") from error


@dataclass(frozen=True, eq=False)
class Subtree:
    """Bits by place, which counts the tiles of a subtree level by level and along a Morton curve within each.

    Attributes
    ----------
    tiles : bool [T]; contents : bool [C, T], one row for each content of a tile; children : bool [B], child subtrees.
    """

    tiles: np.ndarray
    contents: np.ndarray
    children: np.ndarray


def read_subtree(data: bytes, read_buffer: Any, branching: int, levels: int, where: str) -> Subtree:
    """The subtree in ``data``, binary or JSON.

    Parameters
    ----------
    read_buffer : the bytes of an external buffer by its uri.
    branching : 4 or 8; levels : of a subtree.

    Raises
    ------
    FileError : damaged, or bits that do not fit.
    """
    record, binary = _split(data, where)
    count = (branching**levels - 1) // (branching - 1)

    def bits(entry: Any, size: int) -> np.ndarray:
        if "constant" in entry:
            return np.full(size, bool(entry["constant"]))
        view = record["bufferViews"][entry["bitstream"] if "bitstream" in entry else entry["bufferView"]]
        at = view.get("byteOffset", 0)
        packed = np.frombuffer(buffers[view["buffer"]], np.uint8)[at : at + view["byteLength"]]
        if packed.size * 8 < size:
            raise FileError(f"a subtree has {packed.size * 8} bits instead of {size}", where=where)
        return np.unpackbits(packed, bitorder="little")[:size].astype(bool)

    with well_formed(where):
        check_required(record, where)
        buffers = [binary if "uri" not in entry else read_buffer(entry["uri"]) for entry in record.get("buffers", [])]
        contents = availability_of(record)
        return Subtree(
            bits(record["tileAvailability"], count),
            np.array([bits(entry, count) for entry in contents], bool).reshape(len(contents), count),
            bits(record["childSubtreeAvailability"], branching**levels),
        )


def _split(data: bytes, where: str) -> tuple[dict[str, Any], bytes]:
    if data[:4] != _MAGIC:
        return parse_object(data, "subtree", where), b""
    if len(data) < _HEADER.size:
        raise FileError("the subtree is too short for its header", where=where)
    _, _, text, binary = _HEADER.unpack_from(data)
    if _HEADER.size + text + binary > len(data):
        raise FileError("the subtree is truncated", where=where)
    at = _HEADER.size + text
    return parse_object(data[_HEADER.size : at], "subtree", where), data[at : at + binary]


@dataclass(frozen=True, eq=False)
class ImplicitTile:
    """A tile of an implicit tree.

    Attributes
    ----------
    level : below the root; place : (x, y, z) among those of its level; parent : number of the tile above, -1 for none.
    contents : uris of its contents.
    """

    level: int
    place: tuple[int, int, int]
    parent: int
    contents: tuple[str, ...]


def implicit_tiles(
    tiling: dict[str, Any], uris: list[str], read: Callable[[str], bytes], where: str
) -> Iterator[ImplicitTile]:
    """The tiles of a tree that is divided as ``tiling`` states, its root first, parents before their children.

    Parameters
    ----------
    uris : templates of those of contents.
    read : the bytes of a subtree, or of what it refers to, by its uri.

    Raises
    ------
    FileError : another scheme, too many levels, a subtree that is missing or damaged, one without its root or
        with contents that the tileset does not name, or one file for several subtrees.
    LimitExceeded : more than 131,072 tiles in a subtree.
    """
    axes, levels = _AXES[tiling["subdivisionScheme"]], int(tiling["subtreeLevels"])
    most, template = int(tiling["availableLevels"]), tiling["subtrees"]["uri"]
    if not 0 < axes * levels <= _MOST_BITS or not 0 < most <= _MOST_LEVELS:
        raise FileError(f"an implicit tiling of {most} levels, {levels} in a subtree", where=where)
    branching, numbers = 2**axes, {}
    waiting: list[tuple[int, tuple[int, int, int]]] = [(0, (0, 0, 0))]
    known: set[str] = set()
    while waiting:
        top, corner = waiting.pop()
        name = _filled(template, top, corner)
        # Else a file that has itself below it would never end.
        if name in known:
            fix = "name the subtrees by {level}, {x} and {y}"
            raise FileError("one file for several subtrees", where=f"{where}, {name[:200]}", fix=fix)
        known.add(name)
        subtree = read_subtree(read(name), lambda uri, name=name: read(_beside(name, uri)), branching, levels, name)
        _check_subtree(subtree, len(uris), name)
        for level, place, contents in _inside(subtree, axes, levels, top, corner):
            if level >= most:
                continue
            above = numbers.get((level - 1, tuple(v >> 1 for v in place)), -1)
            numbers[level, place] = len(numbers)
            # Where a subtree tells of none, none is there.
            named = [uri for uri, there in zip(uris, contents, strict=False) if there]
            yield ImplicitTile(level, place, above, tuple(_filled(uri, level, place) for uri in named))
        for number in np.flatnonzero(subtree.children).tolist() if top + levels < most else ():
            waiting.append((top + levels, _place(number, levels, axes, corner)))


def _check_subtree(subtree: Subtree, contents: int, where: str) -> None:
    """Refuse a subtree that its tileset, of so many ``contents`` per tile, has no place for, and one too large."""
    if len(subtree.contents) != contents and subtree.contents.any():
        what = f"a subtree states {len(subtree.contents)} contents per tile, and its tileset {contents}"
        raise FileError(what, where=where)
    if not subtree.tiles[0]:
        raise FileError("a subtree without its root tile", where=where)
    if (count := int(subtree.tiles.sum())) > _MOST_TILES:
        fix = "write subtrees of fewer levels"
        raise LimitExceeded(f"a subtree of {count:,} tiles, more than {_MOST_TILES:,}", where=where, fix=fix)


def _inside(
    subtree: Subtree, axes: int, levels: int, top: int, corner: tuple[int, int, int]
) -> Iterator[tuple[int, tuple[int, int, int], list[bool]]]:
    """Level, place and contents of the tiles that are there."""
    at = 0
    for level in range(levels):
        for number in np.flatnonzero(subtree.tiles[at : at + 2 ** (axes * level)]).tolist():
            yield top + level, _place(number, level, axes, corner), subtree.contents[:, at + number].tolist()
        at += 2 ** (axes * level)


def _place(number: int, level: int, axes: int, corner: tuple[int, int, int]) -> tuple[int, int, int]:
    """Where the tile of a Morton ``number`` is, ``level`` levels below a tile at ``corner``."""
    place = [0, 0, 0]
    for bit in range(level):
        for axis in range(axes):
            place[axis] |= (number >> (axes * bit + axis) & 1) << bit
    x, y, z = (first * 2**level + own for first, own in zip(corner, place, strict=True))
    return (x, y, z if axes == 3 else 0)


def _beside(name: str, uri: str) -> str:
    """A uri in the file ``name``, from the place that names are relative to."""
    return uri if urlsplit(uri).scheme else posixpath.join(posixpath.dirname(name), uri)


def _filled(template: str, level: int, place: tuple[int, int, int]) -> str:
    values = {"level": level, **dict(zip("xyz", place, strict=True))}
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", str(value))
    return template


def part_of(volume: Any, axes_of: str, level: int, place: tuple[int, int, int], where: str) -> dict[str, list[float]]:
    """The bounding volume of a tile of an implicit tree whose root has ``volume``: its share of the box or region.

    Raises
    ------
    FileError : another volume.
    """
    count, axes = 2**level, _AXES[axes_of]
    if "box" in volume:
        box = np.array(volume["box"], np.float64)
        half = box[3:].reshape(3, 3).copy()
        center = box[:3].copy()
        for axis in range(axes):
            center += half[axis] * ((2 * place[axis] + 1) / count - 1)
            half[axis] /= count
        return {"box": [*center.tolist(), *half.reshape(-1).tolist()]}
    if "region" in volume:
        ends = list(volume["region"])
        pairs = [(0, 2), (1, 3), (4, 5)][:axes]
        for axis, (low, high) in enumerate(pairs):
            first, last = volume["region"][low], volume["region"][high]
            width = (width_of(first, last) if axis == 0 else last - first) / count
            ends[low] = volume["region"][low] + width * place[axis]
            ends[high] = ends[low] + width
        return {"region": ends}
    raise FileError("an implicit tiling has a box or a region", where=where)
