"""Processes that start at once on an empty cache of compiled code: each compiles, and none waits for another."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hra import samples

SCHEDULED = Path("/proc/self/schedstat")
# What its first thread did: seconds of the clock, on a processor, and ready but without one.
CODE = """
import os, sys, time
from pathlib import Path
start = time.perf_counter()
from hra.cli import main
told, sys.argv = sys.argv[1], ["hra", *sys.argv[2:]]
try:
    main()
finally:
    of = Path(f"/proc/self/task/{os.getpid()}/schedstat").read_text().split()
    Path(told).write_text(f"{time.perf_counter() - start} {int(of[0]) / 1e9} {int(of[1]) / 1e9}")
"""


@pytest.mark.slow
@pytest.mark.skipif(not SCHEDULED.exists(), reason="only Linux tells how long a process waited for a processor")
def test_eight_cold_processes_do_not_wait_for_each_other(tmp_path: Path) -> None:
    """Whatever else runs: the time that is neither on a processor nor ready for one is small."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_NUM_THREADS": "1"}
    page = str(samples.path("page.png"))
    running = [
        subprocess.Popen(
            [sys.executable, "-c", CODE, str(tmp_path / f"{number}"), "tokens", "allocate", page],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for number in range(8)
    ]
    said = [process.communicate()[1] for process in running]
    assert [process.returncode for process in running] == [0] * 8, said
    for number in range(8):
        clock, busy, ready = map(float, (tmp_path / f"{number}").read_text().split())
        assert busy > 1 and clock - busy - ready < clock / 4, (clock, busy, ready)
