"""A build in parts that is killed again and again ends in the same bytes."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from random import Random

import pytest

import hra
from hra.domains import meshes
from tests.helpers.killing import forked


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("kills", [5, pytest.param(20, marks=pytest.mark.slow)])
def test_killed_at_random_moments(tmp_path: Path, kills: int):
    def build(out: Path) -> None:
        source = hra.samples.path("skull.ply")
        meshes.build_out_of_core(source, out, memory=9_000, certified=False, threads=1)

    build(tmp_path / "known.hra")  # compiles as well
    start = time.monotonic()
    build(tmp_path / "known.hra")
    whole = time.monotonic() - start
    known, random, killed, out = (tmp_path / "known.hra").read_bytes(), Random(0), 0, tmp_path / "out.hra"
    while killed < kills:
        child = forked(lambda: build(out))
        time.sleep(random.uniform(0, 0.5 * whole))
        os.kill(child, signal.SIGKILL)
        killed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
        if out.exists():
            assert out.read_bytes() == known
            out.unlink()
    build(out)
    assert out.read_bytes() == known and sorted(path.name for path in tmp_path.iterdir()) == ["known.hra", "out.hra"]
