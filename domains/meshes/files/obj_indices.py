"""Face corners of OBJ files: counted from 1, or backwards from the vertices read so far."""

from __future__ import annotations

import re

from hra.errors import FileError

_FACE_WITH_ZERO = re.compile(rb"^f(?=[ \t])[^\n]*?[ \t]0(?=[/ \t\r\n]|\Z)", re.MULTILINE)
_FACE_WITH_NEGATIVE = re.compile(rb"^f[ \t][^\n]*-", re.MULTILINE)
_KINDS = (b"v", b"vt", b"vn")


def refuse_zero(text: bytes, where: str) -> None:
    """Raise FileError if a face uses the vertex 0, which trimesh would read as the last vertex."""
    zero = _FACE_WITH_ZERO.search(text)
    if zero:
        line = text.count(b"\n", 0, zero.start()) + 1
        fix = "export it again"
        raise FileError("a face uses vertex 0, but OBJ counts from 1", where=f"{where}, line {line}", fix=fix)


def with_absolute_indices(text: bytes) -> bytes:
    """The same file with every negative index replaced by the number that it stands for.

    A negative index counts back from the vertices *above its line*; trimesh counts from the end of the file, which is
    another vertex wherever faces and vertices alternate. Indices before the first vertex become 0.
    """
    if not _FACE_WITH_NEGATIVE.search(text):
        return text
    counts: dict[bytes, int] = dict.fromkeys(_KINDS, 0)
    lines = text.split(b"\n")
    for number, line in enumerate(lines):
        words = line.split()
        if words and words[0] in counts:
            counts[words[0]] += 1
        elif words and words[0] == b"f" and b"-" in line:
            lines[number] = b" ".join([b"f", *(_absolute(corner, counts) for corner in words[1:])])
    return b"\n".join(lines)


def _absolute(corner: bytes, counts: dict[bytes, int]) -> bytes:
    """One corner ``v/vt/vn`` without negative numbers."""
    parts = corner.split(b"/")
    for place, (kind, part) in enumerate(zip(_KINDS, parts, strict=False)):
        if part.startswith(b"-") and part[1:].isdigit():
            parts[place] = b"%d" % max(counts[kind] + 1 - int(part[1:]), 0)
    return b"/".join(parts)
