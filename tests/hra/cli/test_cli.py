"""The command line as a user meets it: results as JSON, bad input as three lines and exit code 2."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from hra import samples
from tests.helpers.command import run_hra


def test_tokens_of_a_page(tmp_path: Path):
    page, overlay, record = samples.path("page.png"), tmp_path / "o.png", tmp_path / "t.json"
    assert run_hra("tokens", "allocate", page, "--query", "bottom right", "-o", overlay, "--json", record) == 0
    result = json.loads(record.read_text())
    assert result["count"] == len(result["positions"]) == 273
    width, height = Image.open(overlay).size  # the tokens on the page, and beside them what they give back
    assert width > height > 1700


def test_texture_replay_stays_in_the_pool(tmp_path: Path):
    texture, record = tmp_path / "noise.png", tmp_path / "r.json"
    noise = np.random.default_rng(0).integers(0, 256, (600, 900, 3), dtype=np.uint8)
    Image.fromarray(noise).save(texture)
    assert run_hra("texture", "replay", texture, "--pool", "600KiB", "--frames", 5, "--json", record) == 0
    result = json.loads(record.read_text())
    assert result["frames"] == len(result["per_frame"]["resident"]) == 5
    assert result["peak_bytes"] == max(result["per_frame"]["resident"]) <= 600 * 1024


def test_doctor_lists_every_backend(tmp_path: Path):
    assert run_hra("doctor", "--json", tmp_path / "d.json") == 0
    record = json.loads((tmp_path / "d.json").read_text())
    assert {name.split(" ")[0] for name in record["backends"]} >= {"reference", "warp"}
    assert record["backends"]["reference (cpu)"] == "ok"
    assert "exact" in record["plug-ins"]["hra.traversals"].split(", ")


@pytest.mark.gl
def test_doctor_finds_opengl(tmp_path: Path):
    assert run_hra("doctor", "--json", tmp_path / "d.json") == 0
    assert json.loads((tmp_path / "d.json").read_text())["opengl"]["context"] == "ok"


BAD_INPUT = {
    "missing mesh": ("mesh", "build", "no.ply", "-o", "x.hra"),
    "not a mesh": ("mesh", "build", "text.ply", "-o", "x.hra"),
    "not a built mesh": ("mesh", "info", "text.ply"),
    "neither budget nor error": ("mesh", "cut", "text.ply"),
    "missing image": ("tokens", "allocate", "no.png"),
    "not an image": ("tokens", "allocate", "text.ply"),
    "budget below the base": ("tokens", "allocate", "tiny.png", "--budget", "0"),
    "negative budget": ("tokens", "allocate", "tiny.png", "--budget", "-1"),
    "pool that is not a number": ("texture", "replay", "tiny.png", "--pool", "many"),
    "output folder missing": ("tokens", "allocate", "tiny.png", "--json", "no/such/folder.json"),
    "viewport that is not a size": ("texture", "replay", "tiny.png", "--viewport", "big"),
}


@pytest.mark.parametrize("arguments", BAD_INPUT.values(), ids=BAD_INPUT.keys())
def test_bad_input_is_three_lines_and_code_2(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.ply").write_text("this is not a mesh")
    Image.new("RGB", (40, 30)).save("tiny.png")
    before = sorted(tmp_path.iterdir())
    assert run_hra(*arguments) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert lines[0].startswith("error: ") and 2 <= len(lines) <= 3
    assert sorted(tmp_path.iterdir()) == before, "nothing may be half-written"
