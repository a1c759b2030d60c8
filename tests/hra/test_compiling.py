"""Stopwatches stand still while functions are compiled."""

from __future__ import annotations

import threading
import time

import numpy as np

from hra.compiling import Stopwatch, is_compiling, njit


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
    import subprocess
    import sys

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
