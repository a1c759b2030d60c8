"""``hra points`` from a file to a cut and a picture."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from hra import samples
from hra.domains.points import PictureError, PointCloud, SplatCloud, build, load_points, save_tree
from hra.domains.points.commands import app
from hra.errors import BudgetTooSmall, RepairWarning
from hra.files.images import load_image


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
    drawn = run("render", tree, "--points", "2k", "-o", picture, "--viewport", "64x48")
    assert drawn["cost"] <= 2000 and drawn["gap"] is drawn["residual_gap"] is None and drawn["status"] == "heuristic"
    assert picture.read_bytes().startswith(b"\x89PNG")
    whole = tmp_path / "whole.png"
    assert run("render", tree, "-o", whole, "--viewport", "64x48")["nodes"] == 21_260
    assert run("render", tree, "--points", "30k", "-o", picture, "--viewport", "64x48")["nodes"] == 21_260
    assert picture.read_bytes() == whole.read_bytes()


def test_bytes_that_are_too_few_name_what_suffices(tmp_path: Path, cloud: PointCloud):
    save_tree(tmp_path / "a.hpt", build(cloud))

    def cut(size: str) -> Any:
        words = ["cut", str(tmp_path / "a.hpt"), "-o", str(tmp_path / "a.ply"), "--bytes", size]
        return CliRunner().invoke(app, words)

    error = cut("60").exception
    assert isinstance(error, BudgetTooSmall)
    enough = error.fix.removeprefix("use at least ").removesuffix(" bytes").replace(",", "")
    assert cut(enough).exit_code == 0
    assert (tmp_path / "a.ply").stat().st_size <= int(enough)


@pytest.mark.parametrize("kind", ["cloud", "splats", "fields"])
def test_bytes_are_those_of_the_file(kind: str, tmp_path: Path, request: pytest.FixtureRequest):
    cloud = request.getfixturevalue("splats" if kind == "splats" else "cloud")
    if kind == "fields":
        numbers = np.arange(1800.0).reshape(600, 3)
        fields = {"half": numbers[:, 0].astype(np.float16), "three": numbers, "yes": numbers[:, 0] > 9, " ": numbers}
        cloud = PointCloud(cloud.positions, cloud.colors, origin=(5e5, 4e6, 0), fields=fields)
    save_tree(tmp_path / "a.hpt", build(cloud))

    def cut(size: int) -> tuple[int, int]:
        words = ["cut", str(tmp_path / "a.hpt"), "-o", str(tmp_path / "a.ply"), "--bytes", str(size)]
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output
        return len(load_points(tmp_path / "a.ply")), (tmp_path / "a.ply").stat().st_size

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RepairWarning)
        count, size = cut(10**9)
        assert count == len(cloud) and cut(size) == (count, size)
        fewer, less = cut(size - 1)
        assert fewer < count and less < size
        row = (size - cut(size // 2)[1]) / (count - cut(size // 2)[0])
        assert size // 2 - 2 * row < cut(size // 2)[1] <= size // 2


@pytest.mark.parametrize("kind", ["cloud", "splats"])
@pytest.mark.parametrize("azimuth", [-60, 30, 135])
def test_the_default_camera_sees_the_whole_cloud(
    kind: str, azimuth: int, tmp_path: Path, request: pytest.FixtureRequest
):
    tree, out = build(request.getfixturevalue(kind)), tmp_path / "whole.png"
    save_tree(tmp_path / "whole.hpt", tree)
    words = ["render", tmp_path / "whole.hpt", "-o", out, "--viewport", "96x60", "--azimuth", azimuth]
    result = CliRunner().invoke(app, [*map(str, words)])
    assert result.exit_code == 0, result.output
    drawn = load_image(out)[..., :3] < 0.995
    edge = np.concatenate([drawn[0], drawn[-1], drawn[:, 0], drawn[:, -1]])
    assert not edge.any()
    # Nor is it small.
    high, wide = (np.ptp(np.flatnonzero(drawn.any(axis=axes))) for axes in ((1, 2), (0, 2)))
    assert max(high / 60, wide / 96) > 0.6


@pytest.mark.parametrize(("kind", "up"), [("cloud", "0,1,0"), ("splats", "0,-1,0"), ("map", "0,0,1")])
def test_what_is_up_follows_from_the_axes_of_the_cloud(
    kind: str, up: str, tmp_path: Path, request: pytest.FixtureRequest
):
    cloud = request.getfixturevalue("cloud" if kind == "map" else kind)
    save_tree(tmp_path / "a.hpt", build(replace(cloud, crs={2112: b"PROJCS[]"}) if kind == "map" else cloud))
    words = ["render", str(tmp_path / "a.hpt"), "--viewport", "48x40", "-o"]
    for name, more in (("usual.png", []), ("given.png", ["--up", up])):
        assert CliRunner().invoke(app, [*words, str(tmp_path / name), *more]).exit_code == 0
    assert np.array_equal(load_image(tmp_path / "usual.png"), load_image(tmp_path / "given.png"))


def outline_of(cloud: PointCloud | SplatCloud) -> np.ndarray:
    found = build(cloud).outline
    return np.stack([found.min(axis=0), found.max(axis=0)])


@pytest.mark.parametrize("opacity", [0.0, 0.5])
def test_one_huge_splat_does_not_move_the_default_camera(opacity: float, splats: SplatCloud):
    usual, covariances, opacities = outline_of(splats), splats.covariances.copy(), splats.opacities.copy()
    covariances[11, [0, 3, 5]], opacities[11] = 1e8, opacity
    huge = SplatCloud(splats.positions, covariances, splats.colors, opacities)
    assert np.abs(outline_of(huge) - usual).max() < 0.2
    # What is not seen does not count, however small it is.
    covariances[11, [0, 3, 5]], opacities[11] = 0.1, 0
    assert np.abs(outline_of(SplatCloud(splats.positions, covariances, splats.colors, opacities)) - usual).max() < 0.2


def test_one_huge_disc_does_not_move_the_default_camera_and_large_ones_do(cloud: PointCloud):
    radii = np.full(len(cloud), 0.05)
    usual = outline_of(PointCloud(cloud.positions, radii=radii))
    radii[5] = 1e4
    assert np.abs(outline_of(PointCloud(cloud.positions, radii=radii)) - usual).max() < 0.1
    wide = outline_of(PointCloud(cloud.positions, radii=np.full(len(cloud), 50.0)))
    assert wide.min() < -50 and wide.max() > 50
    assert np.ptp(outline_of(PointCloud([[0, 0, 0]], radii=[7.0])), axis=0).tolist() == [14, 14, 14]


def test_full_detail_is_drawn_without_errors_of_the_picture(
    splats: SplatCloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    save_tree(tmp_path / "whole.hpt", build(splats))
    monkeypatch.setattr(PictureError, "evaluate", lambda *_: pytest.fail("errors of the picture were found"))
    words = ["render", tmp_path / "whole.hpt", "-o", tmp_path / "whole.png", "--viewport", "64x48"]
    result = CliRunner().invoke(app, [*map(str, words), "--json", str(tmp_path / "out.json")])
    assert result.exit_code == 0, result.output
    assert json.loads((tmp_path / "out.json").read_text("utf-8"))["nodes"] == len(splats)
