"""``hra texture plan`` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from hra.domains.textures.commands import app
from hra.errors import HraError

Image = pytest.importorskip("PIL.Image")


@pytest.fixture
def images(tmp_path: Path) -> list[str]:
    random = np.random.default_rng(0)
    for name, size in (("a.png", (500, 700, 3)), ("b.tif", (1, 1, 3))):
        Image.fromarray(random.integers(0, 256, size, np.uint8)).save(tmp_path / name)
    return [str(tmp_path / "a.png"), str(tmp_path / "b.tif")]


@pytest.mark.parametrize("kind", [[], ["--mipped"]])
def test_a_plan_of_two_images(images: list[str], kind: list[str], tmp_path: Path) -> None:
    record, picture = tmp_path / "plan.json", tmp_path / "map.png"
    options = ["--pool", "300KiB", "--view", "-50,3,20,-50,0,0", "--viewport", "160x90", "--tile", "64"]
    result = CliRunner().invoke(app, ["plan", *images, *kind, *options, "--json", str(record), "-o", str(picture)])
    assert result.exit_code == 0, result.output
    found = json.loads(record.read_text())
    assert found["resident_bytes"] <= found["pool_bytes"] == 300 * 1024
    assert sum(texture["resident_bytes"] for texture in found["textures"]) == found["resident_bytes"]
    assert [texture["image"] for texture in found["textures"]] == images
    assert found["least_residual_px2"] <= found["residual_px2"] + 1e-9
    assert 0 <= found["gap"] <= 1 and found["status"] in ("optimal", "certified")
    with Image.open(picture) as drawn:
        assert drawn.width > drawn.height


def test_errors_that_do_not_add_up_claim_no_gap(images: list[str], tmp_path: Path) -> None:
    options = ["--pool", "300KiB", "--viewport", "160x90", "--tile", "64", "--json", str(tmp_path / "plan.json")]
    result = CliRunner().invoke(app, ["plan", *images, *options, "--metric", "texel_error:additive=false"])
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "plan.json").read_text())
    assert (found["gap"], found["residual_gap"], found["status"]) == (None, None, "heuristic")


def test_a_plan_by_another_traversal_and_metric(images: list[str], tmp_path: Path) -> None:
    found = {}
    for name in ("exact", "best_first", "threshold"):
        options = ["--pool", "300KiB", "--viewport", "160x90", "--tile", "64", "--traversal", name]
        result = CliRunner().invoke(app, ["plan", images[0], *options, "--json", str(tmp_path / "plan.json")])
        assert result.exit_code == 0, result.output
        found[name] = json.loads((tmp_path / "plan.json").read_text())
        assert found[name]["least_residual_px2"] <= found["exact"]["residual_px2"] + 1e-9
    assert found["exact"]["residual_px2"] <= found["best_first"]["residual_px2"] + 1e-9
    options = ["--metric", "attribute_gain:attribute=level", "--json", str(tmp_path / "plan.json")]
    result = CliRunner().invoke(app, ["plan", images[0], "--pool", "300KiB", *options])
    assert result.exit_code == 0, result.output
    record = json.loads((tmp_path / "plan.json").read_text())
    assert record["least_residual_px2"] is None and record["residual_px2"] >= 0


@pytest.mark.parametrize("view", ["1,2", "a,b,c", "1,2,3,4"])
def test_a_view_of_other_numbers_is_refused(images: list[str], view: str) -> None:
    result = CliRunner().invoke(app, ["plan", *images, "--view", view])
    assert isinstance(result.exception, HraError) and result.exception.where == "--view"


def test_a_look_straight_down_plans_as_one_that_is_nearly_so(images: list[str], tmp_path: Path) -> None:
    found = []
    for number, view in enumerate(("0,20,0", "0,20,0.01")):
        options = [
            "--pool",
            "300KiB",
            "--view",
            view,
            "--viewport",
            "160x90",
            "--json",
            str(tmp_path / f"{number}.json"),
        ]
        result = CliRunner().invoke(app, ["plan", images[0], *options])
        assert result.exit_code == 0, result.exception
        found.append(json.loads((tmp_path / f"{number}.json").read_text()))
    assert found[0]["resident_bytes"] == found[1]["resident_bytes"]
    assert found[0]["residual_px2"] == pytest.approx(found[1]["residual_px2"], rel=0.05)
