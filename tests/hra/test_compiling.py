"""Stopwatches stand still while functions are compiled; kept code is the right one, or none at all."""

from __future__ import annotations

import errno
import gc
import importlib
import os
import runpy
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from hra.compiling import Stopwatch, is_compiling, njit
from hra.errors import HraWarning
from tests.helpers.compiled_modules import CALLEE, CALLER, STALE, CompiledModules, flipped, sealed


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


def test_numbers_that_a_caller_writes_out_are_of_one_type() -> None:
    @njit
    def inner(pair, count, negate=False):
        return -count - pair[0] if negate else count + pair[0]

    @njit
    def outer(count):
        found = inner((0, 1), 0) + inner((count, 1), count) + inner(pair=(1, 2), count=7)
        return found, inner((count, 2), 1, False) + inner((3, count), count, True)

    assert outer(5) == (5 + 5 + 8, (5 + 1) - (3 + 5))
    assert len(inner.signatures) == 2  # without and with the last


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


@pytest.mark.parametrize(("usual", "most"), [((700, 10, 10), 20), ((0, 10, 10), 0)])
def test_garbage_is_searched_for_seldom_while_functions_are_compiled(usual, most) -> None:
    found: list[str] = []
    before = gc.get_threshold()
    gc.set_threshold(*usual)
    gc.callbacks.append(note := lambda phase, _: found.append(phase) if phase == "start" and is_compiling() else None)
    try:
        fresh_function()(np.arange(5.0))
        assert gc.get_threshold() == usual
        with pytest.raises(numba.TypingError):
            njit(lambda values: values.nothing)(np.arange(5.0))
        assert gc.get_threshold() == usual
    finally:
        gc.callbacks.remove(note)
        gc.set_threshold(*before)
    assert len(found) <= most


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


def _files(made: CompiledModules, end: str) -> list[Path]:
    return sorted(made.kept.glob(f"made_caller.outer*.{end}"))


def _spoil(end: str, change: Callable[[bytes], bytes]) -> Callable[[CompiledModules], None]:
    def spoil(made: CompiledModules) -> None:
        (path,) = _files(made, end)
        path.write_bytes(change(path.read_bytes()))

    return spoil


def _flip(content: bytes) -> bytes:
    return flipped(content, len(content) // 2)


def _other_function(made: CompiledModules) -> None:
    (made.folder / "other.py").write_text(CALLEE.replace("inner", "outer"))
    importlib.import_module("other").outer(3.0)
    (path,), (other,) = _files(made, "nbc"), made.kept.glob("other.outer*.nbc")
    path.write_bytes(other.read_bytes())


def _by_numba(made: CompiledModules) -> None:
    made.write(CALLER.replace("hra.compiling", "numba"), CALLEE)
    made.run()
    made.write(CALLER, CALLEE)


def _folder_instead(made: CompiledModules) -> None:
    (path,) = _files(made, "nbc")
    path.unlink()
    path.mkdir()


def _no_folder(made: CompiledModules) -> None:
    shutil.rmtree(made.kept)
    made.kept.touch()
    made.patch.setattr("numba.core.config.CACHE_DIR", str(made.kept))


_SPOILED: dict[str, Callable[[CompiledModules], None]] = {
    "index cut off": _spoil("nbi", lambda content: content[: len(content) // 2]),
    "code cut off": _spoil("nbc", lambda content: content[: len(content) // 2]),
    "index empty": _spoil("nbi", lambda content: b""),
    "code empty": _spoil("nbc", lambda content: b""),
    "a bit of the code turned": _spoil("nbc", _flip),
    "a bit of the index turned": _spoil("nbi", _flip),
    "no index at all": _spoil("nbi", lambda content: sealed(b"something else")),
    "no code at all": _spoil("nbc", lambda content: sealed(b"something else")),
    "code gone": lambda made: _files(made, "nbc")[0].unlink(),
    "code is a folder": _folder_instead,
    "code of another function": _other_function,
    "kept by Numba alone": _by_numba,
    "another processor": lambda made: made.patch.setattr(
        "numba.core.codegen.JITCPUCodegen.magic_tuple", lambda self: ("x86_64", "another", "+none")
    ),
    "other versions": lambda made: made.patch.setattr("hra.compiling._VERSIONS", ("3.0", "1.0")),
    "nowhere to write": _no_folder,
    "no place for any": lambda made: made.patch.setattr("numba.core.caching.CacheImpl._locator_classes", []),
}


@pytest.mark.parametrize("spoil", _SPOILED.values(), ids=_SPOILED)
@pytest.mark.filterwarnings("ignore:compiled code cannot be kept")
def test_what_a_cache_holds_is_never_wrong_and_never_in_the_way(
    spoil: Callable[[CompiledModules], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = CompiledModules(tmp_path, monkeypatch)
    assert made.run() == (7.0, 0)
    assert made.run() == (7.0, 1)
    spoil(made)
    assert made.run() == (7.0, 0)


_STALE = {
    **STALE,
    "an option of what it calls": (CALLER, CALLEE.replace("cache=True", "cache=True, fastmath=True"), 7.0),
}


@pytest.mark.parametrize(("caller", "callee", "value"), _STALE.values(), ids=_STALE)
def test_code_of_another_source_is_not_loaded_though_its_file_looks_as_old(
    caller: str, callee: str, value: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = CompiledModules(tmp_path, monkeypatch)
    made.run()
    made.write(caller, callee)
    assert made.run() == (value, 0)
    assert made.run() == (value, 1)


_LOADED = """
import sys
import numpy as np
from hra.model.sets import total
gain = total(np.arange(4.0), np.ones(4, bool))
print(gain, sum(total.stats.cache_hits.values()), "numba.np.arraymath" in sys.modules)
"""


def test_what_is_kept_is_loaded_without_the_tables_that_compiling_needs() -> None:
    said = [subprocess.check_output([sys.executable, "-c", _LOADED], text=True) for _ in range(2)]
    assert said[1] == "6.0 1 False\n"


def test_a_kept_function_is_compiled_into_a_new_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = CompiledModules(tmp_path, monkeypatch)
    made.run()
    made.write(CALLER.replace("+ OFFSET", "* OFFSET"), CALLEE)
    inner = importlib.reload(importlib.import_module("made_callee")).inner
    assert inner(3.0) == 6.0 and sum(inner.stats.cache_hits.values()) == 1
    sys.modules["made_caller"].__dict__.pop("outer")
    assert importlib.reload(importlib.import_module("made_caller")).outer(4.0) == 8.0
    assert sum(inner.stats.cache_misses.values()) == 0
