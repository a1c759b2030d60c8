"""``hra tokens compare``: methods side by side, with their sheet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from tests.helpers.command import run_hra


def run(picture: Path, *arguments: object) -> None:
    assert run_hra("tokens", "compare", picture, "--budget", 12, *arguments) == 0


def test_compare_draws_a_sheet_and_writes_a_row_per_method(picture: Path, capsys: pytest.CaptureFixture[str]):
    record, sheet = picture.parent / "c.json", picture.parent / "s.png"
    chosen = "pyramid,grid,gestalt-saccades"
    run(picture, "--methods", chosen, "-o", sheet, "--json", record)
    result = json.loads(record.read_text())
    assert [row["method"] for row in result["rows"]] == ["grid", "pyramid"]  # best first: on noise, whole patches
    assert result["rows"][0]["psnr_db"] > result["rows"][1]["psnr_db"]
    assert result["skipped"].keys() == {"gestalt-saccades"}  # its base alone is 35 tokens
    assert "skipped gestalt-saccades" in capsys.readouterr().out
    for row in result["rows"]:
        assert row["count"] == 12 and row["total_ms"] > 0
        assert row.keys() >= {"psnr_db", "ssim", "gain", "efficiency", "redundancy", "coverage", "empty_cells"}
    width, height = Image.open(sheet).size
    assert 1800 <= width <= 1920 and height <= 1080  # the image and two methods fill a screen


def test_unknown_methods_are_refused(picture: Path, capsys: pytest.CaptureFixture[str]):
    assert run_hra("tokens", "compare", picture, "--methods", "grid,best") == 2
    assert "no method called 'best'" in capsys.readouterr().err


def test_another_traversal_is_used_where_it_suits(picture: Path):
    record = picture.parent / "c.json"
    # Apportion is made for flat hierarchies: the pyramid is none.
    run(picture, "--methods", "grid,pyramid", "--traversal", "apportion:importance=none", "--json", record)
    result = json.loads(record.read_text())
    assert result["skipped"].keys() == {"grid", "pyramid"}
    run(picture, "--methods", "grid,pyramid", "--traversal", "best_first", "--json", record)
    assert [row["method"] for row in json.loads(record.read_text())["rows"]] == ["grid", "pyramid"]


def test_what_stands_for_the_features_of_a_model_is_told(picture: Path, capsys: pytest.CaptureFixture[str]):
    told = "chosen by a model's features and attention: here colour, texture and relevance take their place"
    run(picture, "--methods", "fastv,pyramid,tome,pixelprune")
    assert f"fastv, tome: {told}" in capsys.readouterr().out
    run(picture, "--methods", "pyramid,pixelprune")
    assert told not in capsys.readouterr().out
