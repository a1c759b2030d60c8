"""Implicit tiles: places, parents and shares are those of a plain recursion; what claims too much is refused.

Subtrees: bits that just suffice are read, one byte less is refused.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from hra.domains.tiles.files.implicit import ImplicitTile, implicit_tiles, part_of, read_subtree
from hra.errors import FileError

FULL = {"tileAvailability": {"constant": 1}}


def tiling(scheme: str, levels: int, most: int) -> dict[str, Any]:
    found = {"subdivisionScheme": scheme, "subtreeLevels": levels, "availableLevels": most}
    return found | {"subtrees": {"uri": "{level}.{x}.{y}.{z}"}}


CONTENTS = ["c{level}.{x}.{y}.{z}"]


def tiles_of(scheme: str, levels: int, most: int, record: dict[str, Any]) -> list[ImplicitTile]:
    return list(
        implicit_tiles(tiling(scheme, levels, most), CONTENTS, lambda name: json.dumps(record).encode(), "a tileset")
    )


Place = tuple[int, int, int]


def recursion(axes: int, most: int, level: int = 0, place: Place = (0, 0, 0)) -> dict[tuple[int, Place], Place | None]:
    """Every tile of a full tree with the place of its parent."""
    found: dict[tuple[int, Place], Place | None] = {(level, place): None}
    for child in range(2**axes if level + 1 < most else 0):
        x, y, z = (2 * at + (child >> axis & 1) for axis, at in enumerate(place))
        below = x, y, z if axes == 3 else 0
        found |= recursion(axes, most, level + 1, below) | {(level + 1, below): place}
    return found


@pytest.mark.parametrize(
    ("scheme", "axes", "levels", "most"),
    [
        ("QUADTREE", 2, 1, 1),
        ("QUADTREE", 2, 4, 4),
        ("QUADTREE", 2, 2, 5),
        ("QUADTREE", 2, 3, 2),
        ("OCTREE", 3, 3, 3),
        ("OCTREE", 3, 2, 4),
    ],
)
def test_places_and_parents_are_those_of_a_recursion(scheme: str, axes: int, levels: int, most: int) -> None:
    found = tiles_of(scheme, levels, most, FULL | {"childSubtreeAvailability": {"constant": 1}})
    above = [None if one.parent < 0 else found[one.parent].place for one in found]
    assert {(one.level, one.place): place for one, place in zip(found, above, strict=True)} == recursion(axes, most)
    assert len(found) == sum(2 ** (axes * level) for level in range(most))
    assert all(one.parent < number for number, one in enumerate(found))


def test_bits_of_a_subtree_run_along_the_morton_curve() -> None:
    # Of the third level of a quadtree only the tile (2, 1), number 0b0110; its parent is (1, 0).
    bits = np.zeros(21, bool)
    bits[[0, 1 + 0b01, 5 + 0b0110]] = True
    data = np.packbits(bits, bitorder="little").tobytes()
    record = {
        "buffers": [{"byteLength": len(data), "uri": "bits"}],
        "bufferViews": [{"buffer": 0, "byteLength": len(data)}],
        "tileAvailability": {"bitstream": 0},
        "contentAvailability": {"bitstream": 0},
        "childSubtreeAvailability": {"constant": 0},
    }
    files = {"0.0.0.0": json.dumps(record).encode(), "bits": data}
    found = list(implicit_tiles(tiling("QUADTREE", 3, 3), CONTENTS, files.__getitem__, "a tileset"))
    assert [one.place for one in found] == [(0, 0, 0), (1, 0, 0), (2, 1, 0)]
    assert [one.parent for one in found] == [-1, 0, 1]
    assert [one.contents for one in found] == [("c0.0.0.0",), ("c1.1.0.0",), ("c2.2.1.0",)]


@pytest.mark.parametrize(
    ("scheme", "levels", "most"),
    [("QUADTREE", 0, 2), ("QUADTREE", 13, 2), ("OCTREE", 9, 2), ("QUADTREE", 2, 0), ("QUADTREE", 2, 22)],
)
def test_levels_that_no_tree_has_are_refused_before_a_subtree_is_read(scheme: str, levels: int, most: int) -> None:
    def read(name: str) -> bytes:
        raise AssertionError(name)

    with pytest.raises(FileError, match=f"an implicit tiling of {most} levels, {levels} in a subtree"):
        list(implicit_tiles(tiling(scheme, levels, most), CONTENTS, read, "a tileset"))


def test_buffers_lie_beside_their_subtree() -> None:
    record = {"buffers": [{"uri": "bits"}], "bufferViews": [{"buffer": 0, "byteLength": 1}]}
    record |= {"tileAvailability": {"bitstream": 0}, "childSubtreeAvailability": {"constant": 0}}
    files = {"deep/er/0": json.dumps(record).encode(), "deep/er/bits": bytes([0b11])}
    deep = tiling("QUADTREE", 2, 2) | {"subtrees": {"uri": "deep/er/{level}"}}
    assert [one.place for one in implicit_tiles(deep, [], files.__getitem__, "a tileset")] == [(0, 0, 0), (0, 0, 0)]


@pytest.mark.parametrize("rows", [1, 3])
def test_contents_that_a_tileset_and_its_subtrees_count_unlike_are_refused(rows: int) -> None:
    record = FULL | {"childSubtreeAvailability": {"constant": 0}, "contentAvailability": [{"constant": 1}] * rows}
    with pytest.raises(FileError, match=f"states {rows} contents per tile, and its tileset 2") as caught:
        list(
            implicit_tiles(tiling("QUADTREE", 1, 1), ["a", "b"], lambda name: json.dumps(record).encode(), "a tileset")
        )
    assert caught.value.where == "0.0.0.0"


def halves(low: np.ndarray, high: np.ndarray, axes: int, level: int, place: Place) -> tuple[np.ndarray, np.ndarray]:
    """The ends of a part of a box, by halving it level by level."""
    low, high = low.copy(), high.copy()
    for step in reversed(range(level)):
        for axis in range(axes):
            middle = (low[axis] + high[axis]) / 2
            (low if place[axis] >> step & 1 else high)[axis] = middle
    return low, high


@pytest.mark.parametrize(("scheme", "axes"), [("QUADTREE", 2), ("OCTREE", 3)])
@pytest.mark.parametrize("level", [0, 1, 3])
def test_shares_of_boxes_and_regions_are_halves_of_halves(scheme: str, axes: int, level: int) -> None:
    rng = np.random.default_rng(level)
    for number in range(min(8**level, 20)):
        x, y, z = (int(rng.integers(2**level)) if axis < axes else 0 for axis in range(3))
        low, high = halves(np.array([-4.0, 1.0, 2.0]), np.array([4.0, 9.0, 34.0]), axes, level, (x, y, z))
        box = part_of({"box": [0, 5, 18, 4, 0, 0, 0, 4, 0, 0, 0, 16]}, scheme, level, (x, y, z), "")["box"]
        assert np.allclose(box[:3], (low + high) / 2), number
        assert np.allclose(np.reshape(box[3:], (3, 3)), np.diag((high - low) / 2))
        region = part_of({"region": [-4.0, 1.0, 4.0, 9.0, 2.0, 34.0]}, scheme, level, (x, y, z), "")["region"]
        assert np.allclose(region, [low[0], low[1], high[0], high[1], low[2], high[2]])


def record(length: int) -> bytes:
    """A JSON subtree of two levels of a quadtree, whose 16 children are in ``length`` bytes of a buffer."""
    views = [{"buffer": 0, "byteLength": 1}, {"buffer": 0, "byteOffset": 1, "byteLength": length}]
    entries = {"tileAvailability": {"bitstream": 0}, "childSubtreeAvailability": {"bitstream": 1}}
    return json.dumps({"buffers": [{"uri": "bits"}], "bufferViews": views} | entries).encode()


def test_bits_that_just_suffice_are_read() -> None:
    found = read_subtree(record(2), lambda uri: bytes([0b10011, 0b00000001, 0b10000000]), 4, 2, "a.subtree")
    assert found.tiles.tolist() == [True, True, False, False, True]
    assert found.children.nonzero()[0].tolist() == [0, 15] and found.children.shape == (16,)
    assert found.contents.shape == (0, 5)


def test_bits_that_are_missing_are_counted() -> None:
    with pytest.raises(FileError, match="a subtree has 8 bits instead of 16") as caught:
        read_subtree(record(1), lambda uri: bytes(3), 4, 2, "a.subtree")
    assert caught.value.where == "a.subtree"


def test_a_region_across_the_date_line_is_halved_on_its_own_side() -> None:
    parts = [part_of({"region": [3.0, 0, -3.0, 1, 0, 1]}, "QUADTREE", 1, (x, 0, 0), "")["region"] for x in (0, 1)]
    assert np.allclose(np.array(parts)[:, [0, 2]], [[3.0, np.pi], [np.pi, 2 * np.pi - 3.0]])
