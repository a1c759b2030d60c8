"""Fuzzing guided by coverage: what once was a fault stays mended, and a short run of every reader finds none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.hostile.judging import measured
from tests.helpers.hostile.seeds import seeds_of

ROOT = Path(__file__).parents[2]
CRASHERS = sorted((ROOT / "tests" / "fixtures" / "crashers").iterdir())


@pytest.mark.parametrize("file", CRASHERS, ids=lambda file: file.name)
def test_what_once_was_a_fault_is_read_or_refused(file: Path, tmp_path: Path) -> None:
    kind = file.name.rsplit("-", 1)[0]
    path = tmp_path / f"a{file.suffix}"
    path.write_bytes(file.read_bytes())
    seeds = seeds_of(kind)  # what making them takes is not the reader's
    outcome, _ = measured(lambda: seeds.run(path), path.stat().st_size)
    assert outcome.verdict in ("accepted", "refused"), outcome.detail


@pytest.mark.parametrize("kind", ["ply", "points", "point trees"])
def test_a_short_run_finds_no_fault(kind: str) -> None:
    pytest.importorskip("atheris", reason="the extra fuzz is not installed")
    command = [sys.executable, str(ROOT / "scripts" / "fuzz.py"), "--kinds", kind, "--inputs", "3000"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert "3,000" in ended.stdout
