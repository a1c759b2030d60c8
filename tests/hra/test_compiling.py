"""Stopwatches stand still while functions are compiled, and code that cannot be kept runs all the same."""

from __future__ import annotations

import errno
import os
import runpy
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hra.compiling import Stopwatch, is_compiling, njit
from hra.errors import HraWarning


def fresh_function():
    """A function that nobody has compiled, and nothing keeps."""

    @njit
    def total(values):
        sum_ = 0.0
        for value in values:
            sum_ += np.sqrt(value) if value > 0 else -value
        return sum_

    return total


def test_compilation_is_not_counted() -> None:
    function, start, watch = fresh_function(), time.perf_counter(), Stopwatch()
    function(np.arange(5.0))
    wall, passed = watch.wall, time.perf_counter() - start
    assert wall < 0.2 * passed
    assert watch.cpu < 0.5 * passed
    assert not is_compiling()


def test_what_runs_is_counted() -> None:
    function = fresh_function()
    function(np.arange(5.0))
    start = time.perf_counter()  # before the watch, which another process may delay
    watch = Stopwatch()
    before = time.perf_counter()
    while time.perf_counter() - before < 0.05:
        function(np.arange(1000.0))
    assert 0.04 < watch.wall <= time.perf_counter() - start


def test_compilation_in_other_threads_is_not_counted_either() -> None:
    start, watch, seen = time.perf_counter(), Stopwatch(), []
    threads = [threading.Thread(target=lambda: fresh_function()(np.arange(5.0))) for _ in range(2)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        seen.append(is_compiling())
        time.sleep(0.001)
    assert any(seen) and not is_compiling()
    assert watch.wall < 0.5 * (time.perf_counter() - start)


def test_an_allocation_states_what_it_took_without_it() -> None:

    code = (
        "import os, tempfile\n"
        "os.environ['NUMBA_CACHE_DIR'] = tempfile.mkdtemp()\n"
        "import hra, time\n"
        "tree = hra.Hierarchy.tree([-1, 0, 0, 1, 1], [1] * 5)\n"
        "start = time.perf_counter()\n"
        "allocation = hra.solve(tree, 2, errors=[8.0, 5.0, 1.0, 0.5, 0.5])\n"
        "print(allocation.seconds / (time.perf_counter() - start))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 0.4


_FULL = """
import resource, sys, warnings
resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))  # as a full disk: each file ends early, with an OSError
import hra
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print(hra.solve(hra.Hierarchy.flat([1, 2, 3]), budget=4, gains=[3.0, 2.0, 9.0]).gain)
print([type(one.message).__name__ for one in caught], "cannot be kept" in str(caught[0].message))
"""


@pytest.mark.slow
def test_a_full_disk_at_the_first_compilation_stops_nothing(tmp_path: Path) -> None:
    pytest.importorskip("resource", reason="no limits of files on this system")
    done = subprocess.run(
        [sys.executable, "-c", _FULL],
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
    )
    assert done.stdout == "12.0\n['HraWarning'] True\n", done.stderr
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_code_that_cannot_be_kept_runs_and_is_said_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile.save", full)
    monkeypatch.setattr("hra.compiling._Saving.warned", False)
    source = tmp_path / "made.py"
    source.write_text("def double(value):\n    return value * 2\n")
    double = njit(cache=True)(runpy.run_path(str(source))["double"])
    with pytest.warns(HraWarning, match="No space left"):
        assert double(2) == 4
    assert double(2.5) == 5.0
