"""Meshes that Draco has compressed."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hra.domains import meshes
from hra.errors import FileError, HraError, LimitExceeded, MissingExtra, RepairWarning
from hra.files.limits import Limits
from tests.helpers.draco import NAME, compressed
from tests.helpers.scenes import Read, Scene


def test_the_surface_is_that_of_the_source(tmp_path: Path) -> None:
    scene = compressed(tmp_path / "a.glb")
    mesh = meshes.load(tmp_path / "a.glb")
    assert len(mesh.triangles) == len(scene.triangles)
    far = meshes.nearest_distances(mesh.positions, scene.positions, scene.triangles.astype(np.uint32))
    assert far.max() < 1e-4 and np.abs(mesh.bounds - [scene.positions.min(0), scene.positions.max(0)]).max() < 1e-4


def test_levels_are_written_without_compression(tmp_path: Path) -> None:
    compressed(tmp_path / "a.glb")
    lod = meshes.scene_lod(tmp_path / "a.glb", [1.0, 0.3])
    for path, count in zip(lod.export(tmp_path / "levels"), lod.triangles, strict=True):
        file = Read(path)
        (primitive,) = file.header["meshes"][0]["primitives"]
        assert NAME not in str(file.header)
        assert len(file.array(primitive["indices"])) == 3 * count
        assert len(file.array(primitive["attributes"]["POSITION"])) == len(np.unique(file.array(primitive["indices"])))


def test_plain_data_is_read_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene()
    extension = {NAME: {"bufferView": 0, "attributes": {"POSITION": 0}}}
    scene.primitive["extensions"] = extension
    scene.header["extensionsUsed"] = [NAME]
    monkeypatch.setitem(sys.modules, "DracoPy", None)
    assert len(meshes.load(scene.write(tmp_path / "a.glb")).triangles) == len(scene.triangles)


def test_without_the_package_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compressed(tmp_path / "a.glb")
    monkeypatch.setitem(sys.modules, "DracoPy", None)
    with pytest.raises(MissingExtra, match="draco"):
        meshes.load(tmp_path / "a.glb")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"attributes": {"POSITION": 77}}, "Draco holds nothing"),
        ({"attributes": {"NORMAL": 0}}, "attributes that the primitive lacks"),
        ({"attributes": {}}, "is wrong"),
        ({"bufferView": 99}, "is wrong"),
        ({"bufferView": 0}, "damaged"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], said: str, tmp_path: Path) -> None:
    compressed(tmp_path / "a.glb", **changes)
    with pytest.raises(FileError, match=said):
        meshes.load(tmp_path / "a.glb")


def _with_counts(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> Scene:
    """A compressed sheet whose header is changed by ``change`` (header, primitive)."""
    scene = compressed(path)
    change(scene.header, scene.primitive)
    scene.write(path)
    return scene


def test_counts_of_the_data_are_taken_with_a_warning(tmp_path: Path) -> None:
    def change(header: dict[str, Any], primitive: dict[str, Any]) -> None:
        header["accessors"][primitive["attributes"]["POSITION"]]["count"] -= 7
        header["accessors"][primitive["indices"]]["count"] += 300

    scene = _with_counts(tmp_path / "a.glb", change)
    with pytest.warns(RepairWarning, match="2 accessors state other counts"):
        mesh = meshes.load(tmp_path / "a.glb")
    assert len(mesh.triangles) == len(scene.triangles)
    with pytest.warns(RepairWarning, match="2 accessors state other counts"):
        lod = meshes.scene_lod(tmp_path / "a.glb", [1.0, 0.3])
    for path, count in zip(lod.export(tmp_path / "levels"), lod.triangles, strict=True):
        assert len(Read(path).array(Read(path).header["meshes"][0]["primitives"][0]["indices"])) == 3 * count


def test_counts_that_do_not_agree_with_other_data_are_refused(tmp_path: Path) -> None:
    def normals(header: dict[str, Any], primitive: dict[str, Any]) -> None:
        position = header["accessors"][primitive["attributes"]["POSITION"]]
        header["accessors"].append({"componentType": 5126, "type": "VEC3", "count": position["count"] - 7})
        position["count"] -= 7
        primitive["attributes"]["NORMAL"] = len(header["accessors"]) - 1  # of which Draco's data has nothing

    _with_counts(tmp_path / "a.glb", normals)
    with pytest.warns(RepairWarning), pytest.raises(FileError, match=r"counts|NORMAL"):
        meshes.load(tmp_path / "a.glb")


def test_true_counts_are_held_against_the_limits(tmp_path: Path) -> None:
    _with_counts(tmp_path / "a.glb", lambda header, p: header["accessors"][p["indices"]].update(count=3))
    with pytest.warns(RepairWarning), pytest.raises(LimitExceeded, match="triangles"):
        meshes.load(tmp_path / "a.glb", limits=Limits(triangles=100))


@pytest.mark.parametrize("seed", range(40))
def test_damaged_data_is_refused_or_read(seed: int, tmp_path: Path) -> None:
    scene = compressed(tmp_path / "a.glb")
    random = np.random.default_rng(seed)
    data = bytearray((tmp_path / "a.glb").read_bytes())
    begin = len(data) - len(scene.chunk) + scene.header["bufferViews"][-1]["byteOffset"]
    for place in random.integers(begin, len(data), 3):
        data[place] = random.integers(256)
    (tmp_path / "b.glb").write_bytes(data)
    with contextlib.suppress(HraError):
        assert len(meshes.load(tmp_path / "b.glb").triangles) <= len(scene.triangles)
