"""The demonstration end to end: its figures keep what the README promises, its report carries its pictures."""

from __future__ import annotations

import hashlib
import json
import math
import re
from pathlib import Path

import pytest
from PIL import Image

import hra
from hra.allocating.allocation import Allocation
from hra.cli.demo import demo

SECTIONS = {
    "meshes": {
        "source_triangles", "clusters", "levels", "budget", "triangles", "gap", "residual_gap", "pixel_error_px",
        "pixel_triangles", "build_s",
    },
    "textures": {"frames", "pool_bytes", "peak_bytes", "gap", "uploads_bytes"},
    "tokens": {
        "budget", "count", "gap", "residual_gap", "grid_gain", "hull_gain", "grid_psnr_db", "hull_psnr_db",
        "uniform_psnr_db",
    },
    "pool": {"budget_bytes", "mesh_bytes", "texture_bytes", "gap"},
}  # fmt: skip


@pytest.fixture(scope="module")
def made() -> list[Allocation]:
    """Every allocation that the demonstration makes."""
    return []


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory, made: list[Allocation]) -> Path:
    folder, check = tmp_path_factory.mktemp("demo") / "out", Allocation.__post_init__

    def note(allocation: Allocation) -> None:
        check(allocation)
        # Those of the page are hundreds, which its own tests are about; nobody times them.
        if allocation.seconds > 0:
            made.append(allocation)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Allocation, "__post_init__", note)
        demo(folder)
    return folder


@pytest.fixture(scope="module")
def record(out: Path) -> dict[str, dict[str, float]]:
    return json.loads((out / "report.json").read_text())


@pytest.mark.parametrize("section", SECTIONS)
def test_all_figures_are_there_and_finite(record: dict[str, dict[str, float]], section: str):
    assert SECTIONS[section] <= set(record[section])
    assert all(math.isfinite(record[section][name]) and record[section][name] >= 0 for name in SECTIONS[section])


def test_budgets_hold(record: dict[str, dict[str, float]]):
    meshes, textures, tokens, pool = (record[name] for name in SECTIONS)
    assert meshes["source_triangles"] == 42_480
    assert meshes["triangles"] <= meshes["budget"]
    assert textures["peak_bytes"] <= textures["pool_bytes"]
    assert tokens["count"] == tokens["budget"] == 273
    assert pool["mesh_bytes"] + pool["texture_bytes"] <= pool["budget_bytes"]


def test_every_allocation_is_verified(out: Path, made: list[Allocation]):
    assert len(made) > 80
    assert {allocation.hierarchy.cost_unit for allocation in made} >= {"triangles", "bytes", "tokens"}
    for allocation in made:
        found = hra.verify(allocation)
        assert found.ok, (allocation, found.refuted)


def test_the_largest_allocations_are_verified_from_files(out: Path, made: list[Allocation], tmp_path: Path):
    largest = sorted(made, key=lambda allocation: len(allocation.hierarchy))[-3:]
    for allocation in largest:
        allocation.save(tmp_path / "a.npz")
        again = Allocation.load(tmp_path / "a.npz")
        assert again.upper_bound == allocation.upper_bound
        assert hra.verify(again).ok


def test_report_is_self_contained(out: Path):
    page = (out / "report.html").read_text("utf-8")
    pictures = sorted(out.glob("*.png"))
    assert page.count("data:image/png;base64,") == len(pictures) >= 6
    assert re.findall(r"(?:src|href)=\"(?!data:)([^\"]*)", page) == ["explore.html"]
    assert '"kind": "pool"' in (out / "explore.html").read_text("utf-8")
    for picture in pictures:
        with Image.open(picture) as image:
            assert min(image.size) > 200
            assert len(image.convert("RGB").resize((64, 64)).getcolors(4096) or range(4096)) > 50, f"{picture} is blank"


def test_the_manifest_lists_what_the_run_wrote(out: Path):
    listed = json.loads((out / "manifest.json").read_text())["files"]
    assert {path.name for path in out.iterdir()} == {*listed, "manifest.json"}
    for name, entry in listed.items():
        content = (out / name).read_bytes()
        assert (entry["bytes"], entry["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
