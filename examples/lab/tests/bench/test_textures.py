"""The textures suite at tiny sizes: every row is there and well formed."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from hra.errors import HraError
from hra_lab.bench.suite import run
from hra_lab.bench.textures.texture_suite import texture_suite
from hra_lab.commands.bench import bench


@pytest.fixture(scope="module")
def record() -> dict:
    return run(texture_suite(), repeat=1, scale="small")


def test_every_row_is_there_or_says_why_not(record: dict):
    measured, skipped = ({entry["name"] for entry in record[part]} for part in ("rows", "skipped"))
    assert measured.isdisjoint(skipped)
    assert measured | skipped == {row.name for row in texture_suite()}
    assert measured >= {"feedback_1080p", "views_earth", "split_2000", "replay_kitti_like", "plan_1e6_tiles"}
    assert all("not available" in entry["reason"] for entry in record["skipped"])


def test_rows_have_the_documented_fields(record: dict):
    for row in record["rows"]:
        assert row.keys() >= {"name", "n", "ours_s", "peer", "peer_s", "ratio", "results"}
        assert all(math.isfinite(number) for number in row["results"].values()), row["name"]
        assert row["ours_s"] > 0 and row["n"] > 0
        assert row["peer"] is None or row["ratio"] == row["peer_s"] / row["ours_s"]


def test_feedback_by_rays_is_right(record: dict):
    row = next(row for row in record["rows"] if row["name"] == "feedback_1080p")
    assert row["results"]["hra error"] < 0.01
    if row["peer"]:
        assert row["results"]["OpenGL error"] < 0.01


def test_what_is_allocated_looks_no_worse_than_one_bias(record: dict):
    results = next(row for row in record["rows"] if row["name"] == "views_earth")["results"]
    assert results["texel error dB"] >= results["uniform bias dB"] - 0.1
    assert results["detail error dB"] >= results["uniform bias dB"] - 0.1
    assert 0 < results["texel error FLIP"] < 0.5


def test_the_command_writes_json_and_refuses_other_devices(tmp_path: Path):
    app = typer.Typer()
    app.command()(bench)
    file = tmp_path / "textures.json"
    arguments = ["textures", "--names", "views_*", "--scale", "small", "--repeat", "1", "--json", str(file)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "uniform bias FLIP" in done.output
    assert [row["name"] for row in json.loads(file.read_text())["rows"]] == ["views_earth"]
    failed = CliRunner().invoke(app, ["textures", "--device", "cuda:0"])
    assert isinstance(failed.exception, HraError)
