"""``hra points`` from a file to a cut and a picture."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from hra import samples
from hra.domains.points import load_points
from hra.domains.points.commands import app


def test_build_info_cut_and_render(tmp_path: Path):
    def run(*words: object) -> dict:
        result = CliRunner().invoke(app, [*map(str, words), "--json", str(tmp_path / "out.json")])
        assert result.exit_code == 0, result.output
        return json.loads((tmp_path / "out.json").read_text("utf-8"))

    tree, cut, picture = tmp_path / "skull.hpt", tmp_path / "cut.ply", tmp_path / "cut.png"
    assert run("build", samples.path("skull.ply"), "-o", tree)["leaves"] == 21_260
    assert run("info", tree)["kind"] == "points"
    assert run("cut", tree, "--points", "2k", "-o", cut, "--azimuth", "30")["nodes"] <= 2000
    assert len(load_points(cut)) <= 2000
    copc, coarse = tmp_path / "all.copc.laz", tmp_path / "coarse.hpt"
    assert run("export", tree, "-o", copc)["leaves"] == 21_260
    assert run("build", copc, "-o", coarse)["leaves"] == 21_260
    assert 2000 < run("build", copc, "--level", "0", "-o", coarse)["leaves"] < 15_000
    run("cut", tree, "--bytes", "10kB", "-o", cut)
    assert cut.stat().st_size <= 10_000
    assert run("render", tree, "--points", "2k", "-o", picture, "--viewport", "64x48")["gap"] < 0.01
    assert picture.read_bytes().startswith(b"\x89PNG")
