from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import trimesh

from hra.camera import Camera
from hra.domains import meshes
from tests.helpers.mesh_commands_cases import result, run


@pytest.mark.parametrize("suffix", ["glb", "obj", "off", "ply", "stl"])
def test_cut_keeps_the_budget_and_exports(ball: Path, suffix: str) -> None:
    record = result(ball, "cut", "--triangles", 5000, "-o", ball / f"c.{suffix}")
    cut = trimesh.load_mesh(ball / f"c.{suffix}")
    assert len(cut.faces) == record["triangles"] <= 5000
    assert 0 <= record["gap"] <= record["residual_gap"]


def test_errors_that_do_not_add_up_claim_no_gap(ball: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meshes.ScreenError, "additive", False)
    record = result(ball, "cut", "--triangles", 5000, "--metric", "screen_error")
    assert (record["gap"], record["residual_gap"], record["status"]) == (None, None, "heuristic")


def test_cut_by_pixels_keeps_the_error(ball: Path) -> None:
    assert result(ball, "cut", "--pixels", 0.5)["largest_error_px"] <= 0.5


def test_cuts_by_appearance(ball: Path, tmp_path: Path) -> None:
    looks = tmp_path / "looks.hra"
    assert run("build", ball / "ball.ply", "-o", looks, "--appearance") == 0
    camera = ("--azimuth", 30, "--pixels", 1, "--viewport", "320x240", "--json", tmp_path / "cut.json")
    assert run("cut", looks, "--error", "appearance", *camera) == 0
    record = json.loads((tmp_path / "cut.json").read_text())
    assert (record["error"], record["certified"]) == ("appearance", True) and record["largest_error_px"] <= 1
    assert run("cut", looks, *camera) == 0
    assert json.loads((tmp_path / "cut.json").read_text())["triangles"] < record["triangles"]
    # Without a camera there is no picture; a mesh in parts is never whole in memory.
    assert run("cut", looks, "--error", "appearance", "--pixels", 1) == 2
    assert run("build", ball, "-o", tmp_path / "parts.hra", "--appearance", "--memory", "1GB") == 2


def test_without_a_camera_a_cut_is_the_best_from_all_sides(ball: Path) -> None:
    cut = result(ball, "cut", "--triangles", 3000, "-o", ball / "all.ply")
    (level,) = meshes.lod_chain(meshes.open_asset(ball / "ball.hra"), [3000]).levels
    assert cut["seen_from"] == "all sides" and cut["triangles"] == len(level.triangles)
    written, expected = trimesh.load_mesh(ball / "all.ply").triangles, level.positions[level.triangles]
    assert sorted(map(tuple, written.reshape(-1, 9))) == sorted(map(tuple, expected.reshape(-1, 9)))
    one_side = result(ball, "cut", "--triangles", 3000, "--azimuth", 30)
    assert "seen_from" not in one_side and one_side["residual_px2"] > 0


def test_a_camera_that_sees_nothing_is_said(ball: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = "note: the camera sees nothing of the mesh"
    away = ("--eye", "0,0,50", "--target", "0,0,90")
    assert run("cut", ball / "ball.hra", "--pixels", 1, *away) == 0
    assert said in capsys.readouterr().err
    for seen in (("--eye", "0,0,50"), ("--azimuth", 30), ()):
        assert run("cut", ball / "ball.hra", "--pixels", 1, *seen) == 0
        assert said not in capsys.readouterr().err


def test_what_a_format_does_not_hold_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ball = trimesh.creation.icosphere(subdivisions=3)
    red = meshes.VertexAttributes(colors=np.tile(np.array([200, 20, 20, 255], np.uint8), (len(ball.vertices), 1)))
    meshes.TriangleMesh(ball.vertices.astype(np.float32), ball.faces.astype(np.uint32), red).export(
        tmp_path / "red.ply"
    )
    assert run("build", tmp_path / "red.ply", "-o", tmp_path / "red.hra") == 0
    assert run("cut", tmp_path / "red.hra", "--triangles", 500, "-o", tmp_path / "red.obj") == 0
    assert "note: .obj files hold no colors here" in capsys.readouterr().err
    assert run("cut", tmp_path / "red.hra", "--triangles", 500, "-o", tmp_path / "red.glb") == 0
    assert capsys.readouterr().err == ""


def test_traversals_and_metrics_are_chosen_by_name(ball: Path) -> None:
    options = ("cut", "--triangles", 3000, "--traversal")
    gaps = {name: result(ball, *options, name)["gap"] for name in ("exact", "hull:finish=none", "best_first")}
    assert gaps["exact"] <= gaps["hull:finish=none"] and gaps["exact"] <= gaps["best_first"]
    record = result(ball, "cut", "--traversal", "threshold:tau=0.5", "--metric", "screen_error:error=certified")
    assert record["traversal"] == "Threshold(tau=0.5)"
    assert record["largest_error_px"] == result(ball, "cut", "--pixels", 0.5)["largest_error_px"]
    record = result(ball, *options, "exact", "--metric", "attribute_gain:attribute=radius")
    assert record["unit"] == "gain" and "residual_px2" not in record


def test_a_near_camera_makes_a_finer_cut(ball: Path) -> None:
    counts = [result(ball, "cut", "--pixels", 0.5, "--distance", distance)["triangles"] for distance in (50, 5)]
    assert counts[0] < counts[1]
    by_eye = result(ball, "cut", "--pixels", 0.5, "--eye", "0,0,5", "--target", "0,0,0")["triangles"]
    assert (
        by_eye == result(ball, "cut", "--pixels", 0.5, "--distance", 5, "--azimuth", 0, "--elevation", 0)["triangles"]
    )


def test_cameras_come_from_files(ball: Path) -> None:
    (ball / "eye.json").write_text(json.dumps({"eye": [0, 0, 5], "target": [0, 0, 0], "viewport": [1920, 1080]}))
    camera = Camera.perspective((0, 0, 5), (0, 0, 0))
    matrices = {"view": camera.view.tolist(), "projection": camera.projection.tolist()}
    (ball / "matrices.json").write_text(json.dumps(matrices))
    expected = result(ball, "cut", "--pixels", 0.5, "--eye", "0,0,5", "--target", "0,0,0")
    for name in ("eye", "matrices"):
        record = result(ball, "cut", "--pixels", 0.5, "--camera", ball / f"{name}.json")
        assert record["triangles"] == expected["triangles"]
