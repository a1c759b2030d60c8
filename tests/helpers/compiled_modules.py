"""Two modules with a compiled function each, the one calling the other, and how their kept code is spoiled."""

from __future__ import annotations

import importlib
import os
import sys
from hashlib import blake2b
from pathlib import Path

import pytest

CALLER = """
from hra.compiling import njit
from made_callee import inner

OFFSET = 1.0

@njit(cache=True)
def outer(value):
    return inner(value) + OFFSET
"""
CALLEE = """
from hra.compiling import njit

@njit(cache=True)
def inner(value):
    return value * 2.0
"""
# Other sources, and what ``outer(3.0)`` gives then.
STALE = {
    "the function": (CALLER.replace("+", "-"), CALLEE, 5.0),
    "its options": (CALLER.replace("cache=True", "cache=True, error_model='numpy'"), CALLEE, 7.0),
    "a constant": (CALLER.replace("1.0", "4.0"), CALLEE, 10.0),
    "what it calls": (CALLER, CALLEE.replace("2.0", "5.0"), 16.0),
}


class CompiledModules:
    """The modules ``made_caller`` and ``made_callee`` in a folder of their own; code is kept beside them."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder, self.kept, self.patch = folder, folder / "__pycache__", patch
        patch.syspath_prepend(folder)
        self.write(CALLER, CALLEE)

    def write(self, caller: str, callee: str) -> None:
        for name, text in {"made_caller.py": caller, "made_callee.py": callee}.items():
            (self.folder / name).write_text(text)
            os.utime(self.folder / name, (10**9, 10**9))  # files that look as old as those before
        for path in self.kept.glob("*.pyc") if self.kept.is_dir() else ():
            path.unlink()  # Python's own cache goes by the time of the file, too

    def forget(self) -> None:
        """What Python knows of the modules; compiled code stays."""
        for name in ("made_caller", "made_callee"):
            self.patch.delitem(sys.modules, name, raising=False)
        importlib.invalidate_caches()

    def run(self) -> tuple[float, int]:
        """What ``outer(3.0)`` of freshly imported modules gives, and how many functions were found compiled."""
        self.forget()
        outer = importlib.import_module("made_caller").outer
        return outer(3.0), sum(outer.stats.cache_hits.values())


def sealed(content: bytes) -> bytes:
    return content + blake2b(content).digest()


def flipped(content: bytes, place: int) -> bytes:
    """The content with one bit turned."""
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
