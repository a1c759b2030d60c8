"""``hra mesh``: every command on a small mesh, and every kind of bad input."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh
from PIL import Image

from hra.camera import Camera
from hra.domains import meshes
from tests.helpers.command import run_hra


def run(*arguments: object) -> int:
    """Exit code of ``hra mesh`` with these arguments."""
    return run_hra("mesh", *arguments)


@pytest.fixture(scope="module")
def ball(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ball")
    trimesh.creation.icosphere(subdivisions=5).export(folder / "ball.ply")
    assert run("build", folder / "ball.ply", "-o", folder / "ball.hra", "--json", folder / "build.json") == 0
    assert run("build", folder / "ball.ply", "-o", folder / "plain.hra", "--no-certified") == 0
    return folder


def result(folder: Path, *arguments: object) -> Any:
    """The JSON that a command on the ball gives."""
    command, *rest = arguments
    assert run(command, folder / "ball.hra", *rest, "--json", folder / "result.json") == 0
    return json.loads((folder / "result.json").read_text())


def test_build_and_info_tell_the_same(ball: Path) -> None:
    built, known = json.loads((ball / "build.json").read_text()), result(ball, "info")
    assert built == known
    assert known["triangles"] == 20 * 4**5
    assert known["build_source"] == "ball.ply"
    assert known["build_cpu_s"] > 0 and known["build_wall_s"] > 0
    assert known["pages"] >= 2 and known["page_bytes"] <= known["pages"] * 2**17


def test_info_reads_no_page(ball: Path, tmp_path: Path) -> None:
    content = bytearray((ball / "ball.hra").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "spoilt.hra").write_bytes(content)
    assert run("info", tmp_path / "spoilt.hra") == 0
    assert run("check", tmp_path / "spoilt.hra") == 2


def test_building_with_other_threads_gives_the_same_mesh(ball: Path, tmp_path: Path) -> None:
    arguments = ("--threads", 1, "--cluster-size", 32, "--group-size", 4)
    assert run("build", ball / "ball.ply", "-o", tmp_path / "a.hra", *arguments) == 0
    asset = meshes.open_asset(tmp_path / "a.hra")
    assert asset.facts["certified"] and asset.report is not None
    assert asset.report.threads == 1 and asset.report.settings["cluster_size"] == 32
    assert asset.triangles_per_cluster.max() <= 32


def test_check_passes(ball: Path) -> None:
    report = result(ball, "check", "--cuts", 30)
    assert report["sound"] and report["cuts"] == 30 and report["closed"]


@pytest.mark.parametrize("suffix", ["glb", "obj", "off", "ply", "stl"])
def test_cut_keeps_the_budget_and_exports(ball: Path, suffix: str) -> None:
    record = result(ball, "cut", "--triangles", 5000, "-o", ball / f"c.{suffix}")
    cut = trimesh.load_mesh(ball / f"c.{suffix}")
    assert len(cut.faces) == record["triangles"] <= 5000
    assert 0 <= record["gap"] <= record["residual_gap"]


def test_cut_by_pixels_keeps_the_error(ball: Path) -> None:
    assert result(ball, "cut", "--pixels", 0.5)["largest_error_px"] <= 0.5


def test_a_pixel_error_is_a_bound_or_called_an_estimate(ball: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bound = result(ball, "cut", "--pixels", 3)
    assert (bound["error"], bound["certified"]) == ("certified", True)
    assert capsys.readouterr().err == ""
    for name, chosen in (("plain", ()), ("ball", ("--error", "quadric"))):
        arguments = (ball / f"{name}.hra", "--pixels", 3, *chosen, "--json", ball / "estimate.json")
        assert run("cut", *arguments) == 0
        estimate = json.loads((ball / "estimate.json").read_text())
        assert (estimate["error"], estimate["certified"]) == ("quadric", False)
        assert estimate["triangles"] < bound["triangles"]
        assert "estimate" in capsys.readouterr().err
    assert result(ball, "info")["certified"] is True


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


def test_a_budget_needs_no_bound(ball: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("cut", ball / "plain.hra", "--triangles", 5000, "--json", ball / "estimate.json") == 0
    assert json.loads((ball / "estimate.json").read_text())["certified"] is False
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("suffix", ["glb", "obj", "ply"])
@pytest.mark.parametrize("limit", [30_000, 64_000, 200_000])
def test_bytes_are_those_of_the_file(ball: Path, suffix: str, limit: int) -> None:
    record = result(ball, "cut", "--bytes", limit, "-o", ball / f"b.{suffix}")
    size = (ball / f"b.{suffix}").stat().st_size
    # A step is a group: some 400 triangles.
    assert limit - 8_000 < size == record["file_bytes"] <= limit


def test_bytes_for_everything_take_everything(ball: Path) -> None:
    assert result(ball, "cut", "--bytes", "50MB", "-o", ball / "b.glb")["triangles"] == 20 * 4**5


def test_bytes_below_the_coarsest_cut_are_refused(ball: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("cut", ball / "ball.hra", "--bytes", 500, "-o", ball / "never.glb") == 2
    assert "the coarsest cut takes" in capsys.readouterr().err and not (ball / "never.glb").exists()


def test_numbers_have_suffixes(ball: Path) -> None:
    short, long = (result(ball, "cut", "--triangles", number) for number in ("5k", 5000))
    assert short["triangles"] == long["triangles"]


def test_a_tolerance_that_the_budget_does_not_allow_is_said(ball: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("cut", ball / "ball.hra", "--triangles", 2000, "--pixels", 1, "--json", ball / "unmet.json")
    assert run(*arguments) == 1
    record = json.loads((ball / "unmet.json").read_text())
    assert record["tolerance_met"] is False and record["largest_error_px"] > record["tolerance_px"] == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("tolerance NOT met: ")
    assert result(ball, "cut", "--pixels", 1)["tolerance_met"] is True
    assert capsys.readouterr().out.splitlines()[-1].startswith("tolerance met: ")


def test_without_a_camera_a_cut_is_the_best_from_all_sides(ball: Path) -> None:
    cut = result(ball, "cut", "--triangles", 3000, "-o", ball / "all.ply")
    (level,) = meshes.lod_chain(meshes.open_asset(ball / "ball.hra"), [3000]).levels
    assert cut["seen_from"] == "all sides" and cut["triangles"] == len(level.triangles)
    written, expected = trimesh.load_mesh(ball / "all.ply").triangles, level.positions[level.triangles]
    assert sorted(map(tuple, written.reshape(-1, 9))) == sorted(map(tuple, expected.reshape(-1, 9)))
    one_side = result(ball, "cut", "--triangles", 3000, "--azimuth", 30)
    assert "seen_from" not in one_side and one_side["residual_px2"] > 0


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
    assert [level["triangles"] for level in same["levels"]] == [level["triangles"] for level in found["levels"]]
    assert set(trimesh.load_scene(one).geometry) == {"LOD0", "LOD1"}


def test_traversals_and_metrics_are_chosen_by_name(ball: Path) -> None:
    options = ("cut", "--triangles", 3000, "--traversal")
    gaps = {name: result(ball, *options, name)["gap"] for name in ("exact", "hull:finish=none", "best_first")}
    assert gaps["exact"] <= gaps["hull:finish=none"] and gaps["exact"] <= gaps["best_first"]
    record = result(ball, "cut", "--traversal", "threshold:tau=0.5", "--metric", "screen_error:error=certified")
    assert record["traversal"] == "Threshold(tau=0.5)"
    assert record["largest_error_px"] == result(ball, "cut", "--pixels", 0.5)["largest_error_px"]
    record = result(ball, *options, "exact", "--metric", "attribute_gain:attribute=radius")
    assert record["unit"] == "gain" and "residual_px2" not in record


@pytest.mark.gl
def test_pictures_and_windows_take_them_too(ball: Path) -> None:
    options = ("--triangles", 3000, "--viewport", "80x60", "--traversal", "hull:finish=none")
    options = (*options, "--metric", "screen_error")
    assert result(ball, "render", "-o", ball / "t.png", *options)["triangles"] <= 3000
    assert run("view", ball / "ball.hra", *options, "--screenshot", ball / "t.png") == 0


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


@pytest.mark.gl
@pytest.mark.parametrize("color", ["shaded", "cluster", "level", "error"])
def test_render_draws_the_ball(ball: Path, color: str) -> None:
    record = result(
        ball, "render", "-o", ball / "r.png", "--color", color, "--triangles", 3000, "--viewport", "320x240"
    )
    assert record["triangles"] <= 3000
    picture = np.asarray(Image.open(ball / "r.png"))
    assert picture.shape == (240, 320, 3)
    # The ball fills the narrower half of the view: its centre is drawn, the corners are not.
    background = picture[0, 0].astype(int)
    covered = np.abs(picture.astype(int) - background).sum(axis=2) > 30
    assert covered[120, 160] and not covered[::239, ::319].any()
    assert 0.15 < covered[:, :270].mean() < 0.6
    colors = len(np.unique(picture[100:140, 140:180].reshape(-1, 3), axis=0))
    assert colors > 10


@pytest.mark.gl
def test_a_picture_in_a_missing_folder_is_refused(ball: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("render", ball / "ball.hra", "-o", ball / "no" / "x.png", "--viewport", "40x30") == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.gl
def test_view_saves_a_screenshot(ball: Path) -> None:
    arguments = ("--screenshot", ball / "v.png", "--triangles", 2000, "--viewport", "400x300")
    assert run("view", ball / "ball.hra", *arguments) == 0
    assert Image.open(ball / "v.png").size == (400, 300)


def test_view_without_a_display_is_refused(ball: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert run("view", ball / "ball.hra") == 2
    assert "no display" in capsys.readouterr().err


def test_without_pyvista_the_extra_is_named(ball: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "pyvista", None)
    assert run("render", ball / "ball.hra", "-o", ball / "x.png") == 2
    assert "hra[viz]" in capsys.readouterr().err


def test_a_view_without_either_library_names_both_extras(ball: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    for name in ("imgui_bundle", "pyvista"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setenv("DISPLAY", ":0")
    assert run("view", ball / "ball.hra") == 2
    said = capsys.readouterr().err
    assert "note: drawn by PyVista" in said and "hra[window]" in said and "hra[viz]" in said
    assert run("view", ball / "ball.hra", "--pool", "1MB") == 2
    said = capsys.readouterr().err
    assert "hra[window]" in said and "hra[viz]" not in said


@pytest.mark.gl
def test_a_screenshot_falls_back_to_pyvista(ball: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "moderngl", None)
    options = ("--triangles", 2000, "--viewport", "80x60", "--screenshot", ball / "p.png")
    assert run("view", ball / "ball.hra", *options) == 0
    assert "note: drawn by PyVista" in capsys.readouterr().err and Image.open(ball / "p.png").size == (80, 60)


@pytest.mark.gl
def test_a_screenshot_waits_for_the_pool(ball: Path, capsys) -> None:
    options = ("--pixels", 1, "--color", "overdraw", "--viewport", "80x60", "--screenshot", ball / "p.png")
    assert run("view", ball / "ball.hra", *options, "--pool", "1MB") == 0
    said = capsys.readouterr().out
    assert "of 1." in said or "of 0." in said
    assert "to come" not in said and np.asarray(Image.open(ball / "p.png")).max() > 0


def test_a_build_is_silent_in_a_pipe(ball: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("build", ball / "ball.ply", "-o", ball / "again.hra") == 0
    assert capsys.readouterr().err == ""


BAD_INPUT = {
    "missing mesh": ("build", "no.ply", "-o", "x.hra"),
    "not a mesh": ("build", "text.ply", "-o", "x.hra"),
    "another suffix": ("build", "ball.ply", "-o", "x.npz"),
    "cluster size": ("build", "ball.ply", "-o", "x.hra", "--cluster-size", 17),
    "missing folder": ("build", "ball.ply", "-o", "no/x.hra"),
    "not a built mesh": ("info", "text.ply"),
    "a text that says it is one": ("info", "text.hra"),
    "missing file": ("check", "no.hra"),
    "neither budget nor error": ("cut", "ball.hra"),
    "two budgets": ("cut", "ball.hra", "--triangles", 500, "--bytes", "1MB"),
    "a budget below the root": ("cut", "ball.hra", "--triangles", 1),
    "a negative budget": ("cut", "ball.hra", "--triangles", -5),
    "bytes that are none": ("cut", "ball.hra", "--bytes", "many"),
    "a negative error": ("cut", "ball.hra", "--pixels", -1),
    "an unknown error": ("cut", "ball.hra", "--pixels", 1, "--error", "area"),
    "an unknown traversal": ("cut", "ball.hra", "--traversal", "best"),
    "an option that a traversal has not": ("cut", "ball.hra", "--traversal", "hull:speed=3"),
    "a traversal and a pixel error": ("cut", "ball.hra", "--pixels", 1, "--traversal", "hull"),
    "an unknown metric": ("render", "ball.hra", "-o", "x.png", "--metric", "area"),
    "a metric of images": ("cut", "ball.hra", "--triangles", 500, "--metric", "relevance_error"),
    "a metric of textures": ("view", "ball.hra", "--metric", "texel_error"),
    "a metric and an error": ("cut", "ball.hra", "--triangles", 500, "--error", "quadric", "--metric", "screen_error"),
    "an error that was not built": ("cut", "plain.hra", "--pixels", 1, "--error", "hausdorff"),
    "normals that were not measured": ("cut", "ball.hra", "--pixels", 1, "--error", "appearance", "--azimuth", 30),
    "a format that is not written": ("cut", "ball.hra", "--pixels", 1, "-o", "x.blend"),
    "a viewport that is none": ("cut", "ball.hra", "--pixels", 1, "--viewport", "big"),
    "a viewport without pixels": ("cut", "ball.hra", "--pixels", 1, "--viewport", "0x10"),
    "a point that is none": ("cut", "ball.hra", "--pixels", 1, "--eye", "1,2"),
    "an eye in its target": ("cut", "ball.hra", "--pixels", 1, "--eye", "1,2,3", "--target", "1,2,3"),
    "an eye that is not a number": ("cut", "ball.hra", "--pixels", 1, "--eye", "nan,0,5"),
    "a target without an eye": ("cut", "ball.hra", "--pixels", 1, "--target", "1,2,3"),
    "no direction up": ("cut", "ball.hra", "--pixels", 1, "--up", "0,0,0"),
    "two cameras": ("cut", "ball.hra", "--pixels", 1, "--eye", "1,2,3", "--camera", "camera.json"),
    "a missing camera file": ("cut", "ball.hra", "--pixels", 1, "--camera", "no.json"),
    "a camera file that is not a JSON": ("cut", "ball.hra", "--pixels", 1, "--camera", "text.ply"),
    "a camera file that is a list": ("cut", "ball.hra", "--pixels", 1, "--camera", "list.json"),
    "a camera file of other keys": ("cut", "ball.hra", "--pixels", 1, "--camera", "keys.json"),
    "a camera file without a camera": ("cut", "ball.hra", "--pixels", 1, "--camera", "camera.json"),
    "a camera file of singular matrices": ("cut", "ball.hra", "--pixels", 1, "--camera", "singular.json"),
    "a camera file with an odd viewport": ("cut", "ball.hra", "--pixels", 1, "--camera", "viewport.json"),
    "no levels": ("lods", "ball.hra", "-o", "x.glb"),
    "two kinds of levels": ("lods", "ball.hra", "-o", "x.glb", "--triangles", "500", "--ratios", ".5"),
    "a level twice": ("lods", "ball.hra", "-o", "x.glb", "--triangles", "500,500"),
    "levels that are shares": ("lods", "ball.hra", "-o", "x.glb", "--triangles", ".5"),
    "shares that are levels": ("lods", "ball.hra", "-o", "x.glb", "--ratios", "500"),
    "levels below the root": ("lods", "ball.hra", "-o", "x.glb", "--triangles", "2k,1"),
    "levels as OBJ": ("lods", "ball.hra", "-o", "x.obj", "--triangles", "2k"),
    "levels into a file": ("lods", "ball.hra", "-o", "text", "--triangles", "2k"),
    "a distance within the mesh": ("cut", "ball.hra", "--pixels", 1, "--distance", 0.5),
    "a picture that is not a PNG": ("render", "ball.hra", "-o", "r.jpg"),
    "a screenshot that is not a PNG": ("view", "ball.hra", "--screenshot", "r.jpg"),
    "a source mesh instead of a built one": ("cut", "ball.ply", "--triangles", 500),
    "a skewed camera": ("render", "ball.hra", "-o", "x.png", "--camera", "skewed.json"),
    "a colour that is none": ("render", "ball.hra", "-o", "x.png", "--color", "mood"),
}
CAMERAS = {
    "list": [1, 2],
    "keys": {"eye": [0, 0, 5], "target": [0, 0, 0], "lens": 50},
    "camera": {"eye": [0, 0, 5], "target": "here"},
    "singular": {"view": np.zeros((4, 4)).tolist(), "projection": np.eye(4).tolist()},
    "viewport": {"eye": [0, 0, 5], "target": [0, 0, 0], "viewport": [1, 2, 3]},
    "skewed": {
        "view": np.diag([-1.0, 1, 1, 1]).tolist(),
        "projection": Camera.perspective((0, 0, 5), (0, 0, 0)).projection.tolist(),
    },
}


@pytest.mark.parametrize("arguments", BAD_INPUT.values(), ids=BAD_INPUT.keys())
def test_bad_input_is_three_lines_and_code_2(
    arguments: tuple, ball: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("ball.ply", "ball.hra", "plain.hra"):
        (tmp_path / name).write_bytes((ball / name).read_bytes())
    for name in ("text.ply", "text.hra", "text"):
        (tmp_path / name).write_text("this is not a mesh")
    for name, record in CAMERAS.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(record))
    before = sorted(tmp_path.iterdir())
    assert run(*arguments) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert [line.split(":")[0] for line in lines][-3:] == ["error", "where", "fix"], lines
    assert sorted(tmp_path.iterdir()) == before, "nothing may be half-written"
