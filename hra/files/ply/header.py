"""The header of a PLY file: which elements it promises, checked against the bytes that follow.

Source: Turk, The PLY polygon file format, 1994.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hra.errors import FileError, warn
from hra.files.limits import Limits
from hra.files.ply.text_rows import quote

_TYPES = {
    **{"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4"},
    **{"float": "f4", "double": "f8", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2"},
    **{"int32": "i4", "uint32": "u4", "float32": "f4", "float64": "f8"},
}
_LAYOUTS: dict[str, Literal["", "<", ">"]] = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
_KEYWORDS = (b"format", b"element", b"property")
_END = re.compile(rb"(?:^|[\r\n])end_header[ \t]*(\r\n|\n|\r)")


@dataclass(frozen=True)
class Property:
    """One number of each row of an element, or a list of them.

    Attributes
    ----------
    dtype : of the numbers; length : of the number before a list that says how long it is, None for no list.
    """

    name: str
    dtype: np.dtype
    length: np.dtype | None = None


@dataclass(frozen=True)
class Element:
    """What there are ``count`` rows of."""

    name: str
    count: int
    properties: tuple[Property, ...]

    @property
    def least_bytes(self) -> int:
        """The bytes of a row in a binary file whose lists are empty."""
        return sum((p.length or p.dtype).itemsize for p in self.properties)


@dataclass(frozen=True)
class PlyHeader:
    """A header that can be true.

    Attributes
    ----------
    order : "<" or ">" of a binary file, "" of a text.
    comments : without the word before them; begin : of the first row in the file.
    lines : of the header.
    """

    order: Literal["", "<", ">"]
    elements: tuple[Element, ...]
    comments: tuple[bytes, ...]
    begin: int
    lines: int


def parse_ply_header(data: bytes, where: str, limits: Limits, size: int | None = None) -> PlyHeader:
    """The header of a PLY file of ``size`` bytes, of which ``data`` may be the beginning.

    Raises
    ------
    FileError : it is none, or it promises more than the bytes behind it can hold; LimitExceeded : longer than allowed.
    """
    end = _END.search(data, 0, limits.header_bytes + 64) if data.startswith(b"ply") else None
    if end is None:
        limits.check("header_bytes", len(data) if b"end_header" in data else 0, where)
        raise FileError("this is not a PLY file: it does not begin with a PLY header", where=where)
    lines = data[: end.start()].splitlines()
    header = _Header(where)
    for number, line in enumerate(lines[1:], 2):
        header.read(line, number)
    if header.unknown:
        what = f"{where}: {len(header.unknown)} lines of the header were skipped: {quote(header.unknown[0])}"
        warn(what)
    found = PlyHeader(header.order(), header.elements(), tuple(header.comments), end.end(), len(lines) + 1)
    for element in found.elements:
        limits.check("vertices", element.count, f"{where}, element {element.name}")
    _check_promise(found, (len(data) if size is None else size) - end.end(), where)
    return found


class _Header:
    """What the lines read so far say."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.comments: list[bytes] = []
        self.unknown: list[bytes] = []
        self._layout: bytes | None = None
        self._elements: list[tuple[str, int, list[Property]]] = []

    def read(self, line: bytes, number: int) -> None:
        words, where = line.split(), f"{self.where}, line {number}"
        if not words or words[0] == b"obj_info":
            return
        if words[0] == b"comment":
            self.comments.append(line.strip()[len(b"comment") :].strip())
        elif words[0] == b"format" and len(words) == 3 and words[2] == b"1.0" and self._layout is None:
            self._layout = words[1]
        elif words[0] == b"element" and len(words) == 3:
            self._elements.append((_name(words[1]), _count(words[2], where), []))
        elif words[0] == b"property" and len(words) in (3, 5) and self._elements:
            self._elements[-1][2].append(_property(words, where))
        elif words[0] in _KEYWORDS:
            raise FileError(f"a line of the PLY header is wrong: {quote(line)}", where=where)
        else:
            self.unknown.append(line)

    def order(self) -> Literal["", "<", ">"]:
        layout = (self._layout or b"").decode("ascii", "replace")
        if layout not in _LAYOUTS:
            raise FileError(f"the PLY layout is {layout!r}", where=self.where, fix=f"use {', '.join(_LAYOUTS)}")
        return _LAYOUTS[layout]

    def elements(self) -> tuple[Element, ...]:
        found = tuple(Element(name, count, tuple(properties)) for name, count, properties in self._elements)
        for names in ([e.name for e in found], *([p.name for p in e.properties] for e in found)):
            twice = next((name for name, count in Counter(names).items() if count > 1), None)
            if twice is not None:
                raise FileError(f"the PLY header names {twice[:60]!r} twice", where=self.where)
        return found


def _name(word: bytes) -> str:
    return word.decode("utf-8", "replace")


def _count(word: bytes, where: str) -> int:
    if not word.isdigit() or len(word) > 18:
        raise FileError(f"the PLY header counts {quote(word)} elements", where=where)
    return int(word)


def _property(words: list[bytes], where: str) -> Property:
    kinds = [_TYPES.get(_name(word)) for word in words[1:-1] if word != b"list"]
    listed = len(words) == 5
    if None in kinds or (words[1] == b"list") != listed or (listed and kinds[0] in ("f4", "f8")):
        raise FileError(f"a PLY property has an unknown type: {quote(b' '.join(words))}", where=where)
    types = [np.dtype(kind) for kind in kinds]
    return Property(_name(words[-1]), types[-1], types[0] if listed else None)


def _check_promise(header: PlyHeader, size: int, where: str) -> None:
    """Refuse counts that the bytes cannot hold; a number of a text takes two, its last one a byte less."""
    needed = 0
    for element in header.elements:
        if element.count and not element.properties:
            raise FileError(f"the PLY element {element.name!r} has no property", where=where)
        needed += element.count * (element.least_bytes if header.order else 2 * len(element.properties))
        if needed > size + 1:
            claim = f"the header promises {element.count} {element.name[:40]} elements"
            raise FileError(f"{claim}, but only {size} bytes follow", where=where, fix="copy or export it again")
