"""The plug-in of the examples: in this process, and installed in a clean environment."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
import wave
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra import plugins
from hra.cli import groups
from tests.helpers.command import run_hra
from tests.helpers.environments import build_wheel, clean_copy, clean_environment

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "plugin"
PROJECT = tomllib.loads((FOLDER / "pyproject.toml").read_text())["project"]
REAL = plugins.find_registered


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The plug-in as if it were installed."""
    points = [
        EntryPoint(name, value, group)
        for group, entries in PROJECT["entry-points"].items()
        for name, value in entries.items()
    ]
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setattr(
        plugins, "find_registered", lambda group: [*REAL(group), *(p for p in points if p.group == group)]
    )
    return import_module("hra_waveform")


def write_recording(path: Path, seconds: float = 1.0, channels: int = 1) -> Path:
    """Quiet, but for a burst of noise in its third quarter."""
    samples = np.zeros(int(8000 * seconds), "<i2")
    burst = slice(samples.size // 2, samples.size * 3 // 4)
    samples[burst] = np.random.default_rng(0).integers(-20_000, 20_000, samples[burst].size)
    with wave.open(str(path), "wb") as file:
        file.setparams((channels, 2, 8000, samples.size, "NONE", ""))
        file.writeframes(np.repeat(samples, channels).tobytes())
    return path


def test_it_is_small_and_uses_the_public_surface_only():
    files = [FOLDER / "pyproject.toml", *sorted((FOLDER / "hra_waveform").glob("*.py"))]
    texts = [file.read_text("utf-8") for file in files]
    assert sum(len(text.splitlines()) for text in texts) < 150
    imported = {line for text in texts for line in text.splitlines() if "import" in line and "hra" in line.split()[1]}
    assert {line.split()[1] for line in imported} == {"hra", "hra.console", "hra_waveform"}


def test_its_command_shows_the_burst(plugin: Any, tmp_path: Path):
    file, record = write_recording(tmp_path / "a.wav", channels=2), tmp_path / "r.json"
    assert run_hra("waveform", file, "--bars", 40, "--json", record) == 0
    result = json.loads(record.read_text())
    drawn = np.array(result["drawn"])
    assert result["bars"] == len(drawn) <= 40
    assert np.array_equal(drawn[1:, 0], drawn[:-1, 1]) and drawn[0, 0] == 0 and drawn[-1, 1] == 1
    loud = drawn[:, 3] > drawn[:, 2]
    assert drawn[loud, 0].min() == 0.5 and drawn[loud, 1].max() == 0.75
    assert 0 <= result["gap"] < 0.05


def test_its_names_work_in_every_command(plugin: Any, tmp_path: Path):
    file, record = write_recording(tmp_path / "a.wav"), tmp_path / "r.json"
    gains = []
    for traversal in ("tallest_first", "exact", "best_first"):
        options = ("--bars", 21, "--metric", "bar_area", "--traversal", traversal, "--json", record)
        assert run_hra("waveform", file, *options) == 0
        gains.append(json.loads(record.read_text())["residual"])
    assert gains[1] <= min(gains)
    page = hra.samples.path("page.png")
    options = ("--method", "grid", "--budget", 20, "--traversal", "tallest_first", "--json", record)
    assert run_hra("tokens", "allocate", page, *options) == 0
    assert json.loads(record.read_text())["count"] == 20
    assert groups.failures() == {} and plugins.failures("hra.metrics") == {}


@pytest.mark.parametrize("content", [b"", b"no WAV at all", b"RIFF\x00\x00\x00\x00WAVE"])
def test_bad_input_is_three_lines_and_code_2(
    plugin: Any, content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "bad.wav").write_bytes(content)
    assert run_hra("waveform", tmp_path / "bad.wav") == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 3


@given(
    st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=200),
    st.integers(1, 40),
    st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_what_it_promises(samples: list[float], bars: int, part: tuple[float, float]):
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER))
        module = import_module("hra_waveform")
        recording = module.Recording(np.array(samples, np.float32), 100)
        allocator = module.WaveformAllocator(recording)
        allocator.hierarchy = recording.hierarchy(least=2)
        context = (min(part), max(part))
        allocation = allocator.allocate(context, bars)
        assert allocation.cost <= bars
        best = hra.Exact()
        allocator.traversal = best
        assert allocation.upper_bound >= allocator.allocate(context, bars).gain * (1 - 1e-12)
        drawn = allocator.realize(allocation)
        assert drawn[0, 0] == 0 and drawn[-1, 1] == len(samples) / 100
        for begin, end, low, high in drawn:
            inside = recording.samples[round(begin * 100) : round(end * 100)]
            assert low == inside.min() and high == inside.max()


@pytest.mark.slow
def test_installed_beside_the_library(tmp_path: Path):
    wheels = [
        build_wheel(clean_copy(ROOT, tmp_path / "hra"), tmp_path / "wheels"),
        build_wheel(clean_copy(FOLDER, tmp_path / "plugin"), tmp_path / "wheels"),
    ]
    python = clean_environment(tmp_path / "environment", *wheels)
    file, record = write_recording(tmp_path / "a.wav"), tmp_path / "r.json"
    hra_command = python.with_name("hra")
    for arguments in (["waveform", file, "--traversal", "tallest_first", "--json", record], ["doctor"], ["--help"]):
        done = subprocess.run([hra_command, *map(str, arguments)], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "waveform" in done.stdout or "a.wav" in done.stdout
    assert json.loads(record.read_text())["bars"] <= 80


def test_the_walk_through_shows_its_code():
    page = (ROOT / "docs" / "write-your-own.md").read_text("utf-8")
    texts = [file.read_text("utf-8") for file in (FOLDER / "pyproject.toml", *FOLDER.glob("hra_waveform/*.py"))]
    blocks = re.findall(r"```(?:python|toml)\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 6
    assert [block for block in blocks if not any(block in text for text in texts)] == []
    links = re.findall(r"\]\(([^)#]+)\)", page)
    assert links and all((ROOT / "docs" / link).exists() for link in links)
    assert all(f"`{group}`" in page for group in plugins.GROUPS)
