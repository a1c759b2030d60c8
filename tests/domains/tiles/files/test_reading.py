"""Tilesets within tilesets: how deep they may lie, and which numbers and contents their tiles get.

Bounding volumes: the box around a region holds its whole surface, and is as tight as the samples let it be.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import tiles
from hra.domains.tiles.files import reading
from hra.domains.tiles.files.reading import volume_of
from hra.errors import FileError, LimitExceeded

BOX = [0, 0, 0, 8, 0, 0, 0, 8, 0, 0, 0, 8]
# WGS 84, from its semi-axes: the reader uses the flattening.
EQUATOR, POLE = 6378137.0, 6356752.314245


def tile(**more: Any) -> dict[str, Any]:
    return {"boundingVolume": {"box": BOX}, "geometricError": 1, **more}


def write(path: Path, root: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"asset": {"version": "1.1"}, "geometricError": 9, "root": root}))
    return path


@pytest.mark.parametrize("nested", [32, 33])
def test_thirty_two_tilesets_may_lie_within_one_another(nested: int, tmp_path: Path) -> None:
    for number in range(nested):
        write(tmp_path / f"{number}.json", tile(content={"uri": f"{number + 1}.json"}))
    write(tmp_path / f"{nested}.json", tile())
    if nested == 32:
        assert tiles.read_tileset(tmp_path / "0.json").parent.tolist() == list(range(-1, 32))
    else:
        with pytest.raises(LimitExceeded, match="more than 32 tilesets"):
            tiles.read_tileset(tmp_path / "0.json")


def test_contents_beside_a_nested_tileset_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a.glb").write_bytes(bytes(5))
    (tmp_path / "b.glb").write_bytes(bytes(7))
    write(tmp_path / "inner.json", tile(content={"uri": "b.glb"}))
    root = tile(contents=[{"uri": "inner.json"}, {"uri": "a.glb"}, {"uri": "b.glb"}])
    found = tiles.read_tileset(write(tmp_path / "tileset.json", root))
    assert found.content_bytes.tolist() == [12, 7] and found.names == ("a.glb", "b.glb")


def test_implicit_tiles_below_others_are_numbered_after_them(tmp_path: Path) -> None:
    tiling = {"subdivisionScheme": "QUADTREE", "subtreeLevels": 3, "availableLevels": 3, "subtrees": {"uri": "s"}}
    record = {"tileAvailability": {"constant": 1}, "childSubtreeAvailability": {"constant": 0}}
    (tmp_path / "s").write_text(json.dumps(record))
    root = tile(children=[tile(), tile(implicitTiling=tiling), tile()])
    found = tiles.read_tileset(write(tmp_path / "tileset.json", root))
    assert found.parent.tolist() == [-1, 0, 0, 2, 2, 2, 2, *np.repeat([3, 4, 5, 6], 4).tolist(), 0]


def test_what_is_malformed_names_its_tile(tmp_path: Path) -> None:
    root = tile(children=[tile(), {"boundingVolume": {"box": BOX}}])
    with pytest.raises(FileError, match="there is no 'geometricError'") as caught:
        tiles.read_tileset(write(tmp_path / "tileset.json", root))
    assert caught.value.where == f"{tmp_path / 'tileset.json'}, tile 2"


def test_of_a_long_reason_two_hundred_letters_are_shown(tmp_path: Path) -> None:
    root = tile() | {"geometricError": "x" * 300}
    with pytest.raises(FileError) as caught:
        tiles.read_tileset(write(tmp_path / "tileset.json", root))
    reason = "could not convert string to float: '" + "x" * 300
    assert caught.value.what == f"the tileset is malformed: {reason[:200]}"


def test_as_many_tiles_as_the_limit_says_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "tileset.json", tile(children=[tile(), tile()]))
    monkeypatch.setattr(reading, "_MOST_TILES", 3)
    assert len(tiles.read_tileset(path).parent) == 3
    monkeypatch.setattr(reading, "_MOST_TILES", 2)
    with pytest.raises(LimitExceeded, match="more than 2 tiles") as caught:
        tiles.read_tileset(path)
    assert caught.value.where == f"{path}, tile 2"


def surface(region: list[float], steps: int = 65) -> np.ndarray:
    """Points [P, 3] of the lowest and the highest surface of a region."""
    west, south, east, north, low, high = region
    east += 2 * np.pi if east < west else 0
    longitude, latitude, height = np.meshgrid(
        np.linspace(west, east, steps), np.linspace(south, north, steps), [low, high], indexing="ij"
    )
    squared = 1 - (POLE / EQUATOR) ** 2
    normal = EQUATOR**2 / np.hypot(EQUATOR * np.cos(latitude), POLE * np.sin(latitude))
    x, y = ((normal + height) * np.cos(latitude) * turn(longitude) for turn in (np.cos, np.sin))
    z = ((1 - squared) * normal + height) * np.sin(latitude)
    return np.stack([x, y, z], axis=-1).reshape(-1, 3)


def box_of(region: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest corner."""
    center, axes, radius = volume_of({"region": region}, np.diag([7.0, 7, 7, 1]), "")  # transforms do not move regions
    assert radius == 0 and np.array_equal(axes, np.diag(np.diag(axes)))
    return center - np.diag(axes), center + np.diag(axes)


@given(
    st.floats(-np.pi, np.pi), st.floats(-np.pi / 2, 1.5), st.floats(1e-4, 6), st.floats(1e-4, 3), st.floats(-400, 9000)
)
def test_the_box_of_a_region_holds_its_surface(
    west: float, south: float, width: float, rise: float, low: float
) -> None:
    east, north = west + width, min(south + rise, np.pi / 2)
    region = [west, south, east - 2 * np.pi if east > np.pi else east, north, low, low + 100]
    lowest, highest = box_of(region)
    points = surface(region, 33)
    assert (points >= lowest - 1e-6).all() and (points <= highest + 1e-6).all()


@pytest.mark.parametrize("south", [-1.5, -0.6, 0.0, 0.7, 1.56])
@pytest.mark.parametrize("west", [-3.0, -1.0, 0.2, 2.5])
def test_the_box_of_a_small_region_is_tight(west: float, south: float) -> None:
    region = [west, south, west + 2e-3, south + 1e-3, 20.0, 50.0]
    lowest, highest = box_of(region)
    points = surface(region)
    # A chord of 2e-3 / 16 of the earth is 12 mm above its arc.
    assert np.allclose(lowest, points.min(axis=0), atol=0.05) and np.allclose(highest, points.max(axis=0), atol=0.05)


def test_a_region_over_the_date_line_is_narrow() -> None:
    lowest, highest = box_of([3.1, 0.0, -3.1, 0.1, 0.0, 0.0])
    assert highest[0] < 0 and lowest[1] < 0 < highest[1] and highest[1] - lowest[1] < 700_000


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, "1", None, [1], 1j])
@pytest.mark.parametrize(("kind", "size"), [("box", 12), ("sphere", 4), ("region", 6)])
def test_what_is_no_finite_number_is_refused(kind: str, size: int, value: object) -> None:
    for place in range(size):
        record: dict[str, list[object]] = {kind: [1] * size}
        record[kind][place] = value
        with pytest.raises(FileError, match="a tile has no bounding volume that is known") as caught:
            volume_of(record, np.eye(4), "a tile")
        assert caught.value.where == "a tile"
