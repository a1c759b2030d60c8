"""Commands for images of any size: tokens, crops at full resolution, and what a file is."""

from __future__ import annotations

import base64
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.helpers.command import run_hra

tifffile = pytest.importorskip("tifffile")


@pytest.fixture
def slide(tmp_path: Path) -> tuple[Path, np.ndarray]:
    pixels = np.full((4608, 4352, 3), 200, np.uint8)
    noise = np.random.default_rng(0).integers(0, 256, (300, 300, 3), np.uint8)
    pixels[1000:1300, 3000:3300] = noise
    tifffile.imwrite(
        tmp_path / "a.tif",
        pixels,
        tile=(256, 256),
        photometric="rgb",
        compression="zlib",
        resolution=(4e4, 4e4),
        resolutionunit="CENTIMETER",
    )
    return tmp_path / "a.tif", pixels


def test_tokens_have_boxes_in_pixels_and_metres(slide: tuple[Path, np.ndarray]):
    path, _ = slide
    sheet, record = path.with_name("s.png"), path.with_name("r.json")
    options = ("--relevance", "uniform", "--budget", 137, "-o", sheet, "--json", record)
    assert run_hra("tokens", "allocate", path, *options) == 0
    said = json.loads(record.read_text())
    boxes = np.array(said["boxes"])
    assert said["count"] == len(boxes) == 137 and said["gap"] < 0.01 and said["largest_depth"] == 9
    assert np.allclose(said["boxes_m"], boxes * 0.25e-6) and said["metres_per_pixel"] == pytest.approx(0.25e-6)
    area = np.zeros((288, 272), int)
    for x0, y0, x1, y1 in boxes // 16:
        area[y0:y1, x0:x1] += 1
    fine = boxes[(boxes[:, 2] - boxes[:, 0]) == 16]
    assert area.min() == 1 and len(fine) and (fine[:, 0] >= 2992).all() and (fine[:, 3] <= 1312).all()
    assert Image.open(sheet).size[0] > 1000


def test_crops_are_pixels_at_full_resolution(slide: tuple[Path, np.ndarray]):
    path, pixels = slide
    out, record = path.with_name("out"), path.with_name("r.json")
    options = ("--crops", 3, "--side", 256, "--relevance", "uniform", "-o", out, "--json", record)
    assert run_hra("tokens", "crops", path, *options) == 0
    said = json.loads(record.read_text())
    assert {file.name for file in out.iterdir()} == set(said["files"]) >= {"base.png", "where.png", "crop-01.png"}
    for number, (x0, y0, x1, y1) in enumerate(said["boxes"], 1):
        assert np.array_equal(np.asarray(Image.open(out / f"crop-{number:02}.png")), pixels[y0:y1, x0:x1])
        assert (x1 - x0, y1 - y0) == (256, 256)
    (x0, y0, x1, y1), *_ = said["boxes"]
    assert pixels[y0:y1, x0:x1].std() > 20  # where the noise is
    assert max(Image.open(out / "base.png").size) == 256


def test_info_and_what_is_refused(slide: tuple[Path, np.ndarray], capsys: pytest.CaptureFixture[str]):
    path, _ = slide
    assert run_hra("tokens", "info", path) == 0
    assert "4352 x 4608" in capsys.readouterr().out
    for method, why in (
        ("two-pass", "whole cells"),
        ("gestalt-saccades", "by relevance alone"),
        ("multi-fixation", "patches of the one before"),
        ("semantic-tree", "into regions"),
        ("grid", "all finest patches"),
    ):
        assert run_hra("tokens", "allocate", path, "--method", method) == 2
        said = " ".join(capsys.readouterr().err.split())
        assert f"'{method}' is not for images of any size" in said and why in said
    assert run_hra("tokens", "allocate", path, "--metric", "relevance_error") == 2
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert run_hra("tokens", "allocate", path, "--relevance", "uniform") == 2
    assert "where:" in capsys.readouterr().err


def test_explore_shows_every_patch_of_every_budget(slide: tuple[Path, np.ndarray]):
    from hra.domains import tokens
    from tests.helpers.explorers import cuts, unpacked

    path, _ = slide
    page = path.with_name("p.html")
    assert run_hra("explore", path, "--budget", 137, "-o", page) == 0
    found = re.search(r'id="data">(.*?)</script>', page.read_text("utf-8"), re.DOTALL)
    assert found is not None
    (view,) = json.loads(found[1])["views"]
    assert (view["kind"], view["size"], view["unit"]) == ("slide", [4608, 4352], "tokens")
    track, places = view["tracks"][0], unpacked(view["places"]).reshape(-1, 3)
    image, allocator = tokens.StreamedImage.open(path), tokens.StreamedPyramid()
    start = view["start"]
    chosen = allocator.realize(allocator.allocate((image, ""), float(unpacked(track["budgets"])[start])))
    assert {tuple(places[n]) for n in cuts(track)[start]} == {tuple(place) for place in chosen.places.tolist()}
    assert (unpacked(track["residual"]) >= unpacked(track["least"]) - 1e-12).all()
    assert unpacked(track["budgets"])[start] == 137
    # The pixels of every patch stand in one picture, row by row.
    atlas = np.asarray(Image.open(io.BytesIO(base64.b64decode(view["atlas"].partition(",")[2]))), np.float32) / 255
    for n in (0, len(places) // 2, len(places) - 1):
        top, left = (16 * k for k in divmod(n, view["columns"]))
        shown = atlas[top : top + 16, left : left + 16].ravel()
        assert np.abs(shown - image.values(places[n : n + 1].astype(int))[0]).mean() < 0.05


@pytest.mark.browser
def test_the_browser_zooms_into_what_a_budget_shows(slide: tuple[Path, np.ndarray]):
    import shutil

    playwright = pytest.importorskip("playwright.sync_api")
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        pytest.skip("no Chromium here")
    path, pixels = slide
    page_file = path.with_name("p.html")
    assert run_hra("explore", path, "--budget", 137, "-o", page_file) == 0
    with playwright.sync_playwright() as run:
        browser = run.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page, failed = browser.new_page(), []
        page.on("pageerror", lambda error: failed.append(str(error)))
        page.goto(page_file.as_uri())
        page.wait_for_selector("html[data-ready=yes]", timeout=60_000)
        colour = page.evaluate(
            "() => { const v = explorers[0].view; v.scale = 8; [v.left, v.top] = [10, 20]; v.paint();"
            " return [...v.context.getImageData(50, 60, 1, 1).data]; }"
        )
        assert failed == [] and np.abs(np.array(colour[:3]) - pixels[27, 16]).max() <= 3
        before = page.evaluate("explorers[0].view.scale")
        page.locator("canvas").first.hover()
        page.mouse.wheel(0, 300)
        page.wait_for_function("(before) => explorers[0].view.scale < before", arg=before)
        browser.close()
