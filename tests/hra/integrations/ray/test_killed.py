"""A pipeline of Ray's that is killed again and again ends in the rows of one that was not, and repeats little."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from hra.domains import tokens

KILLS, SHARDS, SHARD, WORKERS = 20, 12, 20, 2
SETTINGS = {"budget": 12, "relevance": "uniform"}

JOB = f"""
import sys
from pathlib import Path
import ray
from hra.integrations.ray import TokenAllocation, remaining

folder, out, log = sys.argv[1:]

class Counted(TokenAllocation):
    def __call__(self, batch):
        with open(log, "a") as file:
            file.write(str(len(batch)) + " ")
        return super().__call__(batch)

left = remaining(sorted(map(str, Path(folder).iterdir())), out)
if left:
    ray.init(num_cpus={WORKERS}, include_dashboard=False, log_to_driver=False)
    print("started", flush=True)
    ray.data.from_items([{{"path": path}} for path in left], override_num_blocks=-(-len(left) // {SHARD})).map_batches(
        Counted, fn_constructor_kwargs={{**{SETTINGS}, "out": out}},
        batch_format="pyarrow", batch_size={SHARD}, concurrency={WORKERS},
    ).materialize()
"""


def _pictures(folder: Path) -> list[str]:
    folder.mkdir()
    rng = np.random.default_rng(0)
    for number in range(SHARDS * SHARD):
        # Large ones: shards take seconds, so that kills meet them.
        tiles = rng.integers(0, 256, (96, 128, 3), dtype=np.uint8).repeat(16, axis=0).repeat(16, axis=1)
        Image.fromarray(tiles).save(folder / f"{number:03}.jpg")
    (folder / "poison.jpg").write_bytes(b"none")
    return sorted(map(str, folder.iterdir()))


@pytest.mark.slow
def test_killed_at_random_moments(tmp_path: Path):
    pytest.importorskip("ray.data")
    names = _pictures(tmp_path / "pictures")
    expected = tokens.TokenAllocation(**SETTINGS)({"path": names}).to_pylist()
    log, out = tmp_path / "log", tmp_path / "rows"
    random, left, whole = Random(0), KILLS, 30.0
    while left:
        log.write_text("")
        before = left
        while (took := _run(tmp_path / "pictures", out, log, random.uniform(0, whole) if left else 600)) is None:
            left -= 1
        assert _rows(out) == expected
        begun = sum(map(int, log.read_text().split()))
        assert begun - len(names) <= (before - left) * WORKERS * SHARD
        # Nobody killed it in time: the next kills come sooner, into a job that begins anew.
        whole = min(whole, took)
        shutil.rmtree(out)


def _run(folder: Path, out: Path, log: Path, limit: float) -> float | None:
    """Seconds of a job that came to its end, or None for one that was killed at the limit."""
    job = _started(folder, out, log)
    began = time.monotonic()
    try:
        assert job.wait(limit) == 0
    except subprocess.TimeoutExpired:
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()
        return None
    return time.monotonic() - began


def _started(folder: Path, out: Path, log: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", JOB, str(folder), str(out), str(log)]
    job = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    )
    assert job.stdout is not None
    job.stdout.readline()  # "started", or nothing where nothing was left to do
    return job


def _rows(out: Path) -> list[dict[str, object]]:
    rows = [row for file in out.glob("*.parquet") for row in pq.read_table(file).to_pylist()]
    return sorted(rows, key=lambda row: str(row["id"]))
