"""``hra tokens``: every method by its name, comparisons with their sheet, and names that do not exist."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from hra.cli.tokens import app
from hra.domains import tokens
from hra.errors import HraError


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    pixels = np.random.default_rng(0).integers(0, 256, (80, 112, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "noise.png")
    return tmp_path / "noise.png"


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_methods_are_listed_with_a_sentence():
    printed = run("methods")
    assert all(name in printed for name in tokens.PRESETS)


@pytest.mark.parametrize("method", ["grid", "log-polar", "residual-scales"])
def test_allocate_by_name(method: str, picture: Path):
    record = picture.parent / "t.json"
    run("allocate", picture, "--method", method, "--budget", 12, "-o", picture.parent / "o.png", "--json", record)
    result = json.loads(record.read_text())
    assert result["method"] == method
    assert result["count"] == len(result["boxes"]) == len(result["detail"]) == 12
    assert Image.open(picture.parent / "o.png").size == (112, 80)


def test_compare_draws_a_sheet_and_writes_a_row_per_method(picture: Path):
    record, sheet = picture.parent / "c.json", picture.parent / "s.png"
    chosen = "grid,pyramid,gestalt-saccades"
    printed = run("compare", picture, "--budget", 12, "--methods", chosen, "-o", sheet, "--json", record)
    result = json.loads(record.read_text())
    assert [row["method"] for row in result["rows"]] == ["grid", "pyramid"]
    assert result["skipped"].keys() == {"gestalt-saccades"}  # its base alone is 35 tokens
    assert "skipped gestalt-saccades" in printed
    for row in result["rows"]:
        assert row["count"] == 12 and row["total_ms"] > 0
        assert row.keys() >= {"psnr_db", "ssim", "gain", "efficiency", "redundancy", "coverage", "empty_cells"}
    assert Image.open(sheet).size[0] == 4 * 368


def test_unknown_methods_are_refused(picture: Path):
    for arguments in (("allocate", "--method", "best"), ("compare", "--methods", "grid,best")):
        with pytest.raises(HraError, match="no method called 'best'"):
            run(arguments[0], picture, *arguments[1:])
