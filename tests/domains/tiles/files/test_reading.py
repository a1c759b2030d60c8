"""Tilesets within tilesets: how deep they may lie, and which numbers and contents their tiles get."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hra.domains import tiles
from hra.domains.tiles.files import reading
from hra.errors import FileError, LimitExceeded

BOX = [0, 0, 0, 8, 0, 0, 0, 8, 0, 0, 0, 8]


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
