"""Compiled code that comes with the package is used where it suits, and is the right one or none at all."""

from __future__ import annotations

import importlib
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
from numba.core.codegen import JITCPUCodegen
from numba.core.registry import cpu_target
from numba.core.serialize import dumps

from hra import shipped
from hra.compiling import njit, shipped_code
from tests.helpers.compiled_modules import STALE, CompiledModules, flipped, sealed
from tests.helpers.scripts import ROOT, script

_SEAL = blake2b().digest_size
_TARGET = JITCPUCodegen.magic_tuple


class _Made(CompiledModules):
    """Two such modules, and a file with their code."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        super().__init__(folder, patch)
        self.file = folder / "compiled.bin"
        patch.setattr(shipped, "PATH", self.file)
        # Made here, and sealed as if it had been made for fewer features.
        assert self.run() == (7.0, 0)
        self.entries = [pickle.loads(path.read_bytes()[:-_SEAL]) for path in folder.rglob("*.nbc")]
        (_, (triple, *_), _), *_ = self.entries[0]
        self.target: tuple[str, str, str] = triple, "some level", "+sse2" if triple.startswith("x86") else ""
        self.pack(self.entries)

    def pack(self, entries: list[Any]) -> None:
        content = shipped.pack(((key[0], parts, bitcode) for key, parts, bitcode in entries), self.target, dumps)
        self.file.write_bytes(content)

    def forget(self) -> None:
        """As in a new process, with an empty cache."""
        shipped._file.cache_clear()
        shutil.rmtree(self.kept, ignore_errors=True)
        super().forget()


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> _Made:
    return _Made(tmp_path, monkeypatch)


def test_what_came_compiled_is_loaded_and_not_kept_again(made: _Made) -> None:
    assert made.run() == (7.0, 1)
    assert not list(made.folder.rglob("*.nb?"))
    assert shipped_code() == "used, 2 functions for some level"


def test_what_came_compiled_is_compiled_into_a_new_caller(made: _Made) -> None:
    made.forget()
    inner = importlib.import_module("made_callee").inner
    assert inner(3.0) == 6.0

    @njit
    def twice(value):
        return inner(inner(value))

    assert twice(3.0) == 12.0
    assert (sum(inner.stats.cache_hits.values()), sum(inner.stats.cache_misses.values())) == (1, 0)


def _target() -> tuple[str, str, str]:
    context: Any = cpu_target.target_context
    return _TARGET(context.codegen())


def _rewrite(change: Callable[[bytes], bytes]) -> Callable[[_Made], None]:
    def rewrite(made: _Made) -> None:
        made.file.write_bytes(change(made.file.read_bytes()))

    return rewrite


def _flip(where: Callable[[int], int]) -> Callable[[_Made], None]:
    return _rewrite(lambda content: flipped(content, where(len(content))))


def _folder_instead(made: _Made) -> None:
    made.file.unlink()
    made.file.mkdir()


def _unreadable(made: _Made) -> None:
    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", path)

    made.patch.setattr("pathlib.Path.read_bytes", refuse)


def _parts_of_the_other(made: _Made) -> None:
    """The place of ``outer`` leads to ``inner``, under a good seal."""
    first, second = made.entries
    made.pack([(first[0], *second[1:]), (second[0], *first[1:])])
    content = made.file.read_bytes()
    size = int.from_bytes(content[:8], "little")
    index = shipped.json.loads(content[8 : 8 + size])
    one, other = index["places"]
    index["places"] = {one: index["places"][other], other: index["places"][one]}
    text = shipped.json.dumps(index).encode()
    assert len(text) <= size
    made.file.write_bytes(sealed(content[:8] + text.ljust(size) + content[8 + size : -_SEAL]))


def _version(name: str) -> Callable[[_Made], None]:
    there = shipped.versions()
    return lambda made: made.patch.setattr(shipped, "versions", lambda: {**there, name: "another"})


def _compiles_for(change: Callable[[str, str, str], tuple[str, str, str]]) -> Callable[[_Made], None]:
    return lambda made: made.patch.setattr(JITCPUCodegen, "magic_tuple", lambda self: change(*_TARGET(self)))


def _needs_a_feature(made: _Made) -> None:
    made.target = (*made.target[:2], "+a-feature-of-later")
    made.pack(made.entries)


def _calls_what_is_not_here(made: _Made) -> None:
    made.pack(
        [
            (key, (*parts[:2], [*parts[2], "a_function_of_elsewhere"], *parts[3:]), bit)
            for key, parts, bit in made.entries
        ]
    )


_UNSUITED: dict[str, Callable[[_Made], None]] = {
    "gone": lambda made: made.file.unlink(),
    "a folder": _folder_instead,
    "unreadable": _unreadable,
    "empty": _rewrite(lambda content: b""),
    "cut off in the index": _rewrite(lambda content: content[:100]),
    "cut off in the code": _rewrite(lambda content: content[:-2000]),
    "cut off in the seal": _rewrite(lambda content: content[:-1]),
    "too long": _rewrite(lambda content: content + b"\0"),
    "a bit of the length turned": _flip(lambda size: 0),
    "a bit of the index turned": _flip(lambda size: 50),
    "a bit of the code turned": _flip(lambda size: size // 2),
    "a bit of the seal turned": _flip(lambda size: size - 1),
    "something else under a seal": _rewrite(lambda content: sealed(b"something else")),
    "another function at the place": _parts_of_the_other,
    "calls of what is not here": _calls_what_is_not_here,
    "another Python": _version("python"),
    "another NumPy": _version("numpy"),
    "another Numba": _version("numba"),
    "another llvmlite": _version("llvmlite"),
    "another system": _compiles_for(lambda triple, *rest: (f"other-{triple}", *rest)),
    "a processor without a feature": _needs_a_feature,
    "a feature turned off": _compiles_for(lambda triple, name, _: (triple, name, "-sse2")),
    "no LZMA": lambda made: made.patch.setitem(sys.modules, "lzma", None),
}
if not _target()[0].startswith("x86"):
    del _UNSUITED["a feature turned off"]  # nothing but the first version is asked of ARM


@pytest.mark.parametrize("spoil", _UNSUITED.values(), ids=_UNSUITED)
def test_what_does_not_suit_is_compiled_instead(spoil: Callable[[_Made], None], made: _Made) -> None:
    spoil(made)
    assert made.run() == (7.0, 0)


@pytest.mark.parametrize(("caller", "callee", "value"), STALE.values(), ids=STALE)
def test_code_of_another_source_is_not_used(caller: str, callee: str, value: float, made: _Made) -> None:
    made.write(caller, callee)
    assert made.run() == (value, 0)


def test_the_state_says_why_nothing_is_used(made: _Made) -> None:
    for spoil, said in {"another NumPy": "made with numpy", "a processor without a feature": "lacks a-feature"}.items():
        _UNSUITED[spoil](made)
        shipped._file.cache_clear()
        assert said in shipped_code()
    made.file.write_bytes(b"")
    shipped._file.cache_clear()
    assert "damaged" in shipped_code()
    made.file.unlink()
    assert "none" in shipped_code()


_TOTAL = """
import sys
from numba.core import event
compiled = event.RecordingListener()
event.register("numba:compile", compiled)
import numpy as np
from hra.model.sets import total
print(total(np.arange(4.0), np.ones(4, bool)), len(compiled.buffer), "numba.np.arraymath" in sys.modules)
"""


def test_a_fresh_process_compiles_nothing_with_what_the_release_builds(tmp_path: Path) -> None:
    folder = tmp_path / "wheel"
    shutil.copytree(ROOT / "hra", folder / "hra", ignore=shutil.ignore_patterns("__pycache__"))
    build = script("scripts/build_compiled.py")

    def run() -> str:
        cache = tmp_path / "cache"
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(folder)}
        said = subprocess.check_output([sys.executable, "-c", _TOTAL], env=environment, text=True, cwd=tmp_path)
        shutil.rmtree(cache, ignore_errors=True)
        return said

    first = run()
    assert first.startswith("6.0 ") and not first.startswith("6.0 0 ")
    (folder / "hra/compiled.bin").write_bytes(build.compiled(folder, [sys.executable, "-c", _TOTAL]))
    assert run() == "6.0 0 False\n"
