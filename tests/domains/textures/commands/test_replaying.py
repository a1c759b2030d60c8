"""Traces on the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from hra.cli import main
from hra.residency import load_trace

POSES = "".join(f"1 0 0 {x} 0 1 0 0 0 0 1 {2 * x}\n" for x in range(12))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch):
    def call(*arguments: object) -> int:
        monkeypatch.setattr(sys, "argv", ["hra", "texture", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        return int(end.value.code or 0)

    return call


@pytest.fixture
def trace(run, tmp_path: Path) -> Path:
    (tmp_path / "poses.txt").write_text(POSES)
    assert run("trace", tmp_path / "poses.txt", "-o", tmp_path / "t.npz", "--step", 2) == 0
    return tmp_path / "t.npz"


def test_poses_become_a_trace(trace: Path):
    assert len(load_trace(trace)) == 6


def test_all_policies_stay_in_the_pool(run, trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    record, picture, pool = tmp_path / "r.json", tmp_path / "p.png", 500 * 65_536
    assert run("replay", trace, "--pool", pool, "--upload", "4MiB", "--json", record, "--picture", picture) == 0
    result = json.loads(record.read_text())
    assert len(result["policies"]) == 13
    for policy in result["policies"]:
        assert max(policy["per_frame"]["resident"]) <= policy["peak_bytes"] <= pool
        assert len(policy["per_frame"]["loaded"]) == result["frames"] == 6
        assert policy["psnr"] is policy["flip"] is policy["residual_over_least"] is None, "a trace has no scene"
    belady = next(policy for policy in result["policies"] if policy["policy"] == "Belady")
    assert result["belady_is_optimal"] and belady["loads_over_belady"] == belady["bytes_over_belady"] == 1
    assert all(policy["loads_over_belady"] == policy["loads"] / belady["loads"] for policy in result["policies"])
    limited = [policy for policy in result["policies"] if policy["policy"].startswith("streaming")]
    assert all(max(policy["per_frame"]["loaded"][1:]) <= 4 * 2**20 for policy in limited)
    assert all(policy["refused"] == 0 for policy in limited)
    assert Image.open(picture).size[0] > 500
    assert "Belady" in capsys.readouterr().out


def test_chosen_policies_only(run, trace: Path, tmp_path: Path):
    assert run("replay", trace, "--pool", "30MiB", "--policy", "lru,belady", "--json", tmp_path / "r.json") == 0
    result = json.loads((tmp_path / "r.json").read_text())
    assert [policy["policy"] for policy in result["policies"]] == ["LRU", "Belady"]


def test_a_flight_within_an_upload_limit(run, tmp_path: Path):
    noise = np.random.default_rng(0).integers(0, 256, (600, 900, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "n.png")
    options = ("--pool", "2MiB", "--upload", 70_000, "--look-ahead", 2, "--frames", 4, "--policy", "lru", "--every", 4)
    assert run("replay", tmp_path / "n.png", *options, "--viewport", "1920x1080", "--json", tmp_path / "r.json") == 0
    frames = json.loads((tmp_path / "r.json").read_text())["per_frame"]
    guessed = (*options, "--viewport", "96x54", "--predict", "--json", tmp_path / "guessed.json")
    assert run("replay", tmp_path / "n.png", *guessed) == 0
    assert max(json.loads((tmp_path / "guessed.json").read_text())["per_frame"]["uploaded"][1:]) <= 70_000
    assert max(frames["uploaded"][1:]) <= 70_000
    assert frames["queued"][0] > 0


def test_a_flight_judges_the_views_of_every_policy(run, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    noise = np.random.default_rng(0).integers(0, 256, (300, 400, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "n.png")
    record, picture = tmp_path / "r.json", tmp_path / "p.png"
    options = ("--frames", 5, "--every", 2, "--viewport", "320x180", "--json", record, "--picture", picture, "--flip")
    assert run("replay", tmp_path / "n.png", "--pool", "200KiB", *options) == 0
    small = json.loads(record.read_text())
    assert small["judged_frames"] == [0, 2, 4]
    assert len(small["policies"]) == 14 and small["policies"][0]["policy"] == "allocation"
    for policy in small["policies"]:
        assert policy["peak_bytes"] <= 200 * 1024
        assert len(policy["psnr"]) == len(policy["flip"]) == len(policy["residual_px2"]) == 3
        assert policy["mean_psnr"] < 99 and policy["mean_flip"] > 0
        assert policy["residual_over_least"] >= 1 - 1e-9
    ours = small["policies"][0]
    assert ours["residual_px2"] == pytest.approx(small["per_frame"]["residual_px2"][::2])
    assert ours["residual_over_least"] == min(policy["residual_over_least"] for policy in small["policies"])
    assert Image.open(picture).size[0] > 500
    assert "FLIP" in capsys.readouterr().out
    assert run("replay", tmp_path / "n.png", "--pool", "9MiB", "--policy", "lru", *options) == 0
    large = json.loads(record.read_text())
    assert [policy["policy"] for policy in large["policies"]] == ["allocation", "LRU"]
    for policy in large["policies"]:
        # Feedback looks at one pixel of 4 x 4: a page that only others show may be missing.
        assert policy["mean_psnr"] > 60 and policy["mean_flip"] < 1e-3 and policy["residual_over_least"] == 1
        assert policy["late"] == 0


def test_no_policy_undercuts_the_least_error_of_what_it_draws(run, tmp_path: Path):
    # The mip tail of 87,380 bytes and a tile of 65,536 do not fit together; LRU evicts the one that is drawn anyway.
    noise = np.random.default_rng(0).integers(0, 256, (256, 256, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "n.png")
    options = ("--frames", 3, "--every", 1, "--viewport", "320x180", "--json", tmp_path / "r.json", "--policy", "lru")
    assert run("replay", tmp_path / "n.png", "--pool", "128kB", *options) == 0
    ours, lru = json.loads((tmp_path / "r.json").read_text())["policies"]
    assert ours["residual_over_least"] == pytest.approx(1)
    assert lru["residual_over_least"] >= 1 - 1e-9
    assert sum(lru["residual_px2"]) < sum(ours["residual_px2"])


def test_a_flight_over_a_tiff_that_pillow_does_not_read(run, tmp_path: Path):
    tifffile = pytest.importorskip("tifffile")
    light = np.random.default_rng(0).random((64, 64, 3), np.float32)
    tifffile.imwrite(tmp_path / "light.tif", light, photometric="rgb")
    options = ("--frames", 2, "--viewport", "64x64", "--policy", "lru", "--json", tmp_path / "r.json")
    assert run("replay", tmp_path / "light.tif", *options) == 0
    assert json.loads((tmp_path / "r.json").read_text())["texture_bytes"] == 16 * sum(4**k for k in range(7))


def test_a_flight_over_light_without_flip(run, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    oiio = pytest.importorskip("OpenImageIO")
    light = np.random.default_rng(0).uniform(0, 2, (200, 300, 3)).astype(np.float32)
    assert oiio.ImageBuf(light).write(str(tmp_path / "n.exr"), "half")
    options = (
        "--frames",
        2,
        "--every",
        1,
        "--viewport",
        "96x54",
        "--policy",
        "lru,belady",
        "--json",
        tmp_path / "r.json",
    )
    assert run("replay", tmp_path / "n.exr", "--pool", "250KiB", *options) == 0
    policies = json.loads((tmp_path / "r.json").read_text())["policies"]
    assert all(0 < policy["mean_psnr"] < 99 and policy["mean_flip"] is policy["flip"] is None for policy in policies)
    assert "FLIP" not in capsys.readouterr().out


def test_a_flight_takes_another_traversal_and_metric(run, tmp_path: Path):
    noise = np.random.default_rng(0).integers(0, 256, (300, 400, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "n.png")
    options = ("--pool", "200KiB", "--frames", 4, "--every", 3, "--viewport", "320x180", "--policy", "lru")
    found = {}
    for traversal in ("hull", "coherent:max_churn=0"):
        chosen = ("--traversal", traversal, "--json", tmp_path / "r.json")
        assert run("replay", tmp_path / "n.png", *options, *chosen) == 0
        found[traversal] = json.loads((tmp_path / "r.json").read_text())
    assert sum(found["coherent:max_churn=0"]["per_frame"]["uploaded"][1:]) == 0
    assert sum(found["hull"]["per_frame"]["uploaded"][1:]) > 0
    level = ("--metric", "attribute_gain:attribute=level,additive=true", "--json", tmp_path / "r.json")
    assert run("replay", tmp_path / "n.png", *options, *level) == 0
    by_level = json.loads((tmp_path / "r.json").read_text())
    assert by_level["per_frame"].keys() >= {"residual", "least_residual"}
    # Views are judged by texel errors whatever chose the pages.
    for record in (*found.values(), by_level):
        assert record["policies"][0]["residual_over_least"] >= 1 - 1e-9


@pytest.mark.parametrize(
    "arguments",
    [
        ("replay", "no.npz"),
        ("replay", "t.npz", "--traversal", "hull"),
        ("replay", "t.npz", "--frames", "60"),
        ("replay", "t.npz", "--flip"),
        ("replay", "n.png", "--predict"),
        ("replay", "t.npz", "--policy", "best"),
        ("replay", "t.npz", "--pool", "1KB"),
        ("replay", "t.npz", "--upload", "much"),
        ("replay", "poses.npz"),
        ("trace", "no.txt"),
        ("trace", "poses.txt", "-o", "no/folder.npz"),
        ("trace", "poses.txt", "--seed", "0"),
        ("trace", "terrain_walk", "--step", "2"),
    ],
    ids=" ".join,
)
def test_bad_input_is_three_lines_and_code_2(
    run, trace: Path, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(trace.parent)
    (trace.parent / "poses.npz").write_text(POSES)
    assert run(*arguments) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert lines[0].startswith("error: ") and 2 <= len(lines) <= 3
