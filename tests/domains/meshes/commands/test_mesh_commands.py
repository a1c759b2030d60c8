"""``hra mesh``: every command on a small mesh, and every kind of bad input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from hra.camera import Camera
from tests.helpers.mesh_commands_cases import run

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
