"""Compiled code that comes with the package: one file beside this module, which the wheels of a release hold.

It was compiled on another machine, for the processors of a common level, and serves where Python, NumPy, Numba,
llvmlite and the system are those that it was made with, and where the processor has all features of the level. Any
other machine compiles as if there were no such file, and so does a function whose source differs.

The entries are pickles, as those of Numba's caches are. The file is a part of the package: whoever can write it can
write the modules beside it, too. What is damaged is never read: the file ends with a hash of all before it, and is read
once, whole, so that none of it can change later.

Layout: the length of the index, 8 bytes, little-endian; the index (JSON); entries, compressed one by one; the bitcode
of all, compressed as one, which only compiling a new caller needs; a hash (BLAKE2b).
"""

from __future__ import annotations

import functools
import json
import pickle
import re
import sys
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np

PATH = Path(__file__).with_name("compiled.bin")
_SEAL = blake2b().digest_size
# What Numba is told when code is made for others: a processor, and all of its features by LLVM's names. The third
# level of x86 is in desktop processors since Haswell and Excavator; of ARM the first version with 64 bits has all.
_X86 = (
    "+64bit,+avx,+avx2,+bmi,+bmi2,+cmov,+crc32,+cx16,+cx8,+f16c,+fma,+fxsr,+lzcnt,+mmx,+movbe,+popcnt,+sahf,+sse,+sse2,"
    "+sse3,+sse4.1,+sse4.2,+ssse3,+xsave"
)
LEVELS = {
    **dict.fromkeys(("x86_64", "amd64"), ("x86-64-v3", _X86)),
    **dict.fromkeys(("aarch64", "arm64"), ("generic", "")),
}


def versions() -> dict[str, str]:
    """Versions of all that compiled code depends on beside its source, which includes Python's bytecode."""
    python = f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')} {sys.version_info.releaselevel}"
    return {"python": python, "numpy": np.__version__, "numba": numba.__version__, "llvmlite": llvmlite.__version__}


def pack(
    entries: Iterable[tuple[Any, tuple[Any, ...], bytes]], target: tuple[str, str, str], dumps: Callable[[Any], bytes]
) -> bytes:
    """The file of compiled functions.

    Parameters
    ----------
    entries : what each is found by, what it is made of again, and its bitcode.
    target : triple, processor and features ("+avx,+avx2") that they were compiled for, as Numba's code generator says.
    """
    import lzma

    places, blocks, bitcodes, at, bit_at = {}, [], [], 0, 0
    for what, parts, bitcode in entries:
        block = zlib.compress(dumps((what, parts)), 9)
        places[_digest(what)] = at, len(block), bit_at, len(bitcode)
        blocks.append(block)
        bitcodes.append(bitcode)
        at, bit_at = at + len(block), bit_at + len(bitcode)
    made = {"versions": versions(), "system": _system(target[0]), "level": target[1], "features": target[2]}
    index = json.dumps({**made, "bitcode": at, "places": places}).encode()
    content = b"".join((len(index).to_bytes(8, "little"), index, *blocks, lzma.compress(b"".join(bitcodes))))
    return content + blake2b(content).digest()


def find(what: Any, target: tuple[str, str, str]) -> tuple[tuple[Any, ...], Callable[[], bytes]] | None:
    """What a function is made of again, and its bitcode when it is asked for; None where it has to be compiled.

    Parameters
    ----------
    what : argument types, options and source: as they were packed.
    target : triple, processor and features that this process compiles for.
    """
    if (file := _file(PATH)) is None or file.unsuited(target):
        return None
    with suppress(Exception):  # of foreign pickles, anything
        return file.find(what)
    return None


def state(target: tuple[str, str, str]) -> str:
    """Say in words whether code comes with the package and suits what this process compiles for."""
    if not PATH.exists():
        return "none, so that first uses compile"
    if (file := _file(PATH)) is None:
        return "damaged, so that first uses compile"
    missing = file.unsuited(target)
    return f"not used: {missing}" if missing else f"used, {len(file.places)} functions for {file.index['level']}"


class _File:
    """One that is whole, in memory."""

    def __init__(self, content: bytes) -> None:
        start = 8 + int.from_bytes(content[:8], "little")
        self.index: dict[str, Any] = json.loads(content[8:start])
        self.places: dict[str, list[int]] = self.index["places"]
        self._blocks = memoryview(content)[start:-_SEAL]
        self._suits: dict[tuple[str, str, str], str] = {}

    def unsuited(self, target: tuple[str, str, str]) -> str:
        """Why nothing of it may be used; "" where it may."""
        if target not in self._suits:
            self._suits[target] = self._reason(target)
        return self._suits[target]

    def _reason(self, target: tuple[str, str, str]) -> str:
        here = {**versions(), "system": _system(target[0])}
        made = {**self.index["versions"], "system": self.index["system"]}
        other = [f"made with {name} {made[name]}, here is {here[name]}" for name in here if here[name] != made[name]]
        missing = _features(self.index["features"]) - _features(target[2])
        return "; ".join(other + ([f"the processor lacks {', '.join(sorted(missing))}"] if missing else []))

    def find(self, what: Any) -> tuple[tuple[Any, ...], Callable[[], bytes]] | None:
        place = self.places.get(_digest(what))
        if place is None:
            return None
        at, size, bit_at, bit_size = place
        kept, parts = pickle.loads(zlib.decompress(self._blocks[at : at + size]))
        # What is written alike need not be the same type.
        return (parts, lambda: self._bitcode[bit_at : bit_at + bit_size]) if kept == what else None

    @functools.cached_property
    def _bitcode(self) -> bytes:
        import lzma

        return lzma.decompress(self._blocks[self.index["bitcode"] :])


@functools.cache
def _file(path: Path) -> _File | None:
    """Read once: what is written there later was made for what is installed later."""
    with suppress(Exception):  # missing, unreadable, or a Python without LZMA
        content = path.read_bytes()
        if blake2b(memoryview(content)[:-_SEAL]).digest() == content[-_SEAL:]:
            import_module("lzma")  # without it the bitcode could not be read when it is needed
            return _File(content)
    return None


def _digest(what: Any) -> str:
    return blake2b(repr(what).encode(), digest_size=16).hexdigest()


def _features(said: str) -> set[str]:
    """The features that are on, of a list as LLVM takes it: "+avx,-sse4a"."""
    return {each[1:] for each in said.split(",") if each.startswith("+")}


def _system(triple: str) -> str:
    """The system of LLVM's triple, without the release number at the end of Apple's."""
    return re.sub(r"[\d.]+$", "", triple)
