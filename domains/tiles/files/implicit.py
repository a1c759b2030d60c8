"""The tiles of an implicit tileset, one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.domains.tiles.files.subtrees import Subtree, read_subtree
from hra.errors import FileError, LimitExceeded

_AXES = {"QUADTREE": 2, "OCTREE": 3}
_MOST_LEVELS = 21
# Of the places of a subtree's tiles: a constant may stand for all of them, so that no file has to be large.
_MOST_BITS = 24
# Of one subtree: 64 bytes of JSON can say that all of them are there.
_MOST_TILES = 2**17


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


def implicit_tiles(tile: dict[str, Any], read: Callable[[str], bytes], where: str) -> Iterator[ImplicitTile]:
    """The tiles below the ``tile`` that states ``implicitTiling``, itself first, parents before their children.

    Raises
    ------
    FileError : another scheme, too many levels, a subtree that is missing or damaged, one without its root, or one
        file for several subtrees.
    LimitExceeded : more than 131,072 tiles in a subtree.
    """
    tiling = tile["implicitTiling"]
    axes, levels = _AXES[tiling["subdivisionScheme"]], int(tiling["subtreeLevels"])
    most, template = int(tiling["availableLevels"]), tiling["subtrees"]["uri"]
    if not 0 < axes * levels <= _MOST_BITS or not 0 < most <= _MOST_LEVELS:
        raise FileError(f"an implicit tiling of {most} levels, {levels} in a subtree", where=where)
    found = tile.get("contents", [tile["content"]] if "content" in tile else [])
    uris = [entry["uri"] for entry in found]
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
        subtree = read_subtree(read(name), read, branching, levels, name)
        if not subtree.tiles[0]:
            raise FileError("a subtree without its root tile", where=name)
        if (count := int(subtree.tiles.sum())) > _MOST_TILES:
            fix = "write subtrees of fewer levels"
            raise LimitExceeded(f"a subtree of {count:,} tiles, more than {_MOST_TILES:,}", where=name, fix=fix)
        for level, place, contents in _inside(subtree, axes, levels, top, corner):
            if level >= most:
                continue
            above = numbers.get((level - 1, tuple(v >> 1 for v in place)), -1)
            numbers[level, place] = len(numbers)
            named = [uri for uri, there in zip(uris, contents, strict=False) if there]
            yield ImplicitTile(level, place, above, tuple(_filled(uri, level, place) for uri in named))
        for number in np.flatnonzero(subtree.children).tolist() if top + levels < most else ():
            waiting.append((top + levels, _place(number, levels, axes, corner)))


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
            width = (volume["region"][high] - volume["region"][low]) / count
            ends[low] = volume["region"][low] + width * place[axis]
            ends[high] = ends[low] + width
        return {"region": ends}
    raise FileError("an implicit tiling has a box or a region", where=where)
