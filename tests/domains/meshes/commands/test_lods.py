from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import trimesh

from hra.domains import meshes
from tests.helpers import draco
from tests.helpers.mesh_commands_cases import run
from tests.helpers.scenes import Scene


@pytest.mark.parametrize("levels", [("--triangles", "10k,2500"), ("--ratios", ".5,.12")])
def test_levels_are_files_of_a_folder_or_nodes_of_one(ball: Path, tmp_path: Path, levels: tuple[str, str]) -> None:
    folder, one, record = tmp_path / "levels", tmp_path / "all.glb", tmp_path / "l.json"
    assert run("lods", ball / "ball.ply", *levels, "-o", folder, "--json", record) == 0
    found = json.loads(record.read_text())
    assert [Path(level["file"]).name for level in found["levels"]] == ["lod0.glb", "lod1.glb"]
    for level, most in zip(found["levels"], (10_240, 2_500), strict=True):
        mesh = meshes.load(level["file"])
        assert 0.5 * most < len(mesh.triangles) == level["triangles"] <= most
        assert mesh.attributes is not None and mesh.attributes.normals is not None
        # On a sphere at the origin positions are normals.
        assert (mesh.attributes.normals * mesh.positions).sum(axis=1).min() > 0.95
        assert Path(level["file"]).stat().st_size == level["file_bytes"]
    assert found["certified"] and found["levels"][0]["error"] < found["levels"][1]["error"]
    assert found["levels"][0]["switch_distance"] < found["levels"][1]["switch_distance"]
    assert run("lods", ball / "ball.hra", *levels, "-o", one, "--json", tmp_path / "one.json") == 0
    same = json.loads((tmp_path / "one.json").read_text())
    for level, most in zip(same["levels"], (10_240, 2_500), strict=True):
        assert 0.5 * most < level["triangles"] <= most
    assert set(trimesh.load_scene(one).geometry) == {"LOD0", "LOD1"}


@pytest.mark.parametrize("source", ["ball.ply", "ball.glb"])
def test_levels_of_an_earlier_run_are_named(tmp_path: Path, source: str, capsys: pytest.CaptureFixture[str]) -> None:
    trimesh.creation.icosphere(subdivisions=3).export(tmp_path / "ball.ply")
    if source == "ball.glb":
        meshes.load(tmp_path / "ball.ply").export(tmp_path / source)
    for levels, said in (("400,200,100", ""), ("400", "lod1.glb, lod2.glb")):
        assert run("lods", tmp_path / source, "--triangles", levels, "-o", tmp_path / "levels") == 0
        told = capsys.readouterr().err
        assert said in told and ("earlier run" in told) == bool(said)


def test_levels_that_are_not_compressed_as_their_source_is_say_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draco.compressed(tmp_path / "packed.glb")
    Scene().write(tmp_path / "plain.glb")
    for name, said in (("packed.glb", [draco.NAME]), ("plain.glb", [])):
        record = tmp_path / "record.json"
        assert run("lods", tmp_path / name, "--ratios", ".5", "-o", tmp_path / "levels", "--json", record) == 0
        assert json.loads(record.read_text())["unpacked"] == said
        told = f"{name} is compressed by {draco.NAME}; its levels are not" in capsys.readouterr().out
        assert told == bool(said)


@pytest.mark.parametrize("kind", ["", "animations", "skins"])
def test_distances_of_scenes_that_can_move_are_said_to_hold_at_rest(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scene, record = Scene(), tmp_path / "record.json"
    if kind == "skins":
        scene.skin()
    if kind == "animations":
        times = scene.add(np.array([[0], [1]], np.float32), bounds=True)
        sampler = {"input": times, "output": scene.add(np.array([[0, 0, 0], [9, 0, 0]], np.float32))}
        channel = {"sampler": 0, "target": {"node": 0, "path": "translation"}}
        scene.header["animations"] = [{"samplers": [sampler], "channels": [channel]}]
    scene.write(tmp_path / "scene.glb")
    assert run("lods", tmp_path / "scene.glb", "--ratios", ".5", "-o", tmp_path / "levels", "--json", record) == 0
    assert json.loads(record.read_text())["at_rest"] == bool(kind)
    assert ("all of this holds at rest" in capsys.readouterr().out) == bool(kind)


@pytest.mark.parametrize("command", ["lods", "cut"])
def test_keeping_textures_without_a_budget_of_bytes_is_refused(
    ball: Path, tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--triangles", "4k", "--textures", "keep", "-o", tmp_path / "out.glb")
    assert run(command, ball / ("ball.hra" if command == "cut" else "ball.ply"), *options) == 2
    assert "--bytes" in capsys.readouterr().err
