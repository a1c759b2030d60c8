"""The words of an OBJ file: what a line means that begins with each of them, and what is collected of it.

Source: Wavefront, Advanced Visualizer manual, appendix B1 (object files).
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from hra.errors import FileError
from hra.files.ply.text_rows import floats, quote

# How many numbers a line may have.
_POSITION, _COORDINATE, _NORMAL = (3, 4, 6, 7), (1, 2, 3), (3,)
NO_GEOMETRY = {
    *(b"o", b"g", b"mg", b"bevel", b"c_interp", b"d_interp", b"lod", b"maplib", b"usemap", b"shadow_obj"),
    *(b"trace_obj", b"ctech", b"stech", b"vp", b"cstype", b"deg", b"bmat", b"step", b"parm", b"trim", b"hole", b"scrv"),
    *(b"sp", b"end", b"con", b"call", b"csh"),
}
SHORT = b"f "
LEFT_OUT = {
    **{b"l": "lines", b"p": "points", b"curv": "curves", b"curv2": "curves", b"surf": "surfaces"},
    SHORT: "faces of fewer than three corners",
}
NONE = np.iinfo(np.int64).min
# What colours of vertices without any are, in files in which others have some.
NO_COLOR = -np.inf


def _numbers(words: list[bytes], line: bytes, counts: tuple[int, ...], where: str) -> list[float]:
    if b"#" in line:
        words = line.partition(b"#")[0].split()
    if len(words) - 1 not in counts:
        what = f"a line has {len(words) - 1} numbers, not {' or '.join(map(str, counts))}: {quote(line)}"
        raise FileError(what, where=where)
    return floats(words[1:], line, where)


def _position(found: ObjLines, words: list[bytes], line: bytes, where: str) -> None:
    numbers = _numbers(words, line, _POSITION, where)
    count = len(found.positions)
    found.positions.extend(numbers[:3])
    if len(numbers) >= 6 or found.colors:
        found.colors.extend([NO_COLOR] * (count - len(found.colors)))
        found.colors.extend(numbers[-3:] if len(numbers) >= 6 else [NO_COLOR] * 3)


def _coordinate(found: ObjLines, words: list[bytes], line: bytes, where: str) -> None:
    numbers = _numbers(words, line, _COORDINATE, where)
    found.uv.extend([numbers[0], numbers[1] if len(numbers) > 1 else 0.0])


def _normal(found: ObjLines, words: list[bytes], line: bytes, where: str) -> None:
    found.normals.extend(_numbers(words, line, _NORMAL, where))


def _face(found: ObjLines, words: list[bytes], line: bytes, where: str) -> None:
    if b"#" in line:
        words = line.partition(b"#")[0].split()
    if len(words) < 2 or b"_" in line:
        raise FileError(f"this is not a face: {quote(line)}", where=where)
    if len(words) < 4:
        found.passed_over[SHORT] += 1
        return
    counts = len(found.positions) // 3, len(found.uv) // 2, len(found.normals) // 3
    kinds = set()
    try:
        for word in words[1:]:
            parts = word.split(b"/")
            numbers = [int(part) if part else None for part in parts]
            kinds.add(_kind(numbers))
            found.corners.extend(
                NONE if number is None else number - 1 if number > 0 else _from_end(number, count)
                for number, count in zip(numbers + [None] * (3 - len(numbers)), counts, strict=True)
            )
    except (ValueError, OverflowError) as error:
        raise FileError(f"this is not a face: {quote(line)}", where=where) from error
    if len(kinds) > 1:
        raise FileError(f"corners of one face are of different kinds: {quote(line)}", where=where)
    found.sizes.append(len(words) - 1)
    found.face_material.append(found.material)


def _kind(numbers: list[int | None]) -> tuple[bool, ...]:
    """Which of vertex, coordinate and normal a corner has."""
    if len(numbers) > 3 or numbers[0] is None:
        raise ValueError("not v, v/vt, v//vn or v/vt/vn")
    return tuple(number is not None for number in (*numbers, None, None)[:3])


def _from_end(number: int, count: int) -> int:
    """What a negative number stands for: it counts back from what stands above its line."""
    if number == 0 or count + number < 0:
        raise ValueError("counts are from 1, or back from -1")
    return count + number


def _use(found: ObjLines, words: list[bytes], line: bytes, where: str) -> None:
    name = line.strip()[len(b"usemtl") :].strip().decode()
    found.material = found.materials.setdefault(name, len(found.materials))


def _smooth(found: ObjLines, words: list[bytes], line: bytes, where: str) -> None:
    found.smoothed |= len(words) > 1 and words[1].lower() not in (b"off", b"0")


def _library(found: ObjLines, words: list[bytes], line: bytes, where: str) -> None:
    # A line may name several files, and names may have blanks.
    found.libraries += re.split(r"(?<=\.mtl)\s+", line.strip()[len(b"mtllib") :].strip().decode(), flags=re.IGNORECASE)


READERS = {
    **{b"v": _position, b"vt": _coordinate, b"vn": _normal, b"f": _face, b"fo": _face},
    **{b"usemtl": _use, b"mtllib": _library, b"s": _smooth},
}


@dataclass(eq=False)
class ObjLines:
    """What an OBJ file says, line by line.

    Attributes
    ----------
    positions : three numbers a vertex; colors : three a vertex, NO_COLOR where it has none; empty if none has any.
    uv : two a coordinate; normals : three a normal.
    corners : three numbers a corner: vertex, coordinate and normal from 0, NONE where there is none.
    sizes : corners of each face; face_lines : of each face; face_material : number of its name among ``materials``.
    libraries, materials : names, the first material is none at all.
    smoothed : whether faces are in smoothing groups.
    passed_over : how many lines were, by their first word.
    """

    positions: array = field(default_factory=lambda: array("d"))
    colors: array = field(default_factory=lambda: array("d"))
    uv: array = field(default_factory=lambda: array("d"))
    normals: array = field(default_factory=lambda: array("d"))
    corners: array = field(default_factory=lambda: array("q"))
    sizes: array = field(default_factory=lambda: array("q"))
    face_lines: array = field(default_factory=lambda: array("q"))
    face_material: array = field(default_factory=lambda: array("q"))
    libraries: list[str] = field(default_factory=list)
    materials: dict[str | None, int] = field(default_factory=lambda: {None: 0})
    passed_over: Counter[bytes] = field(default_factory=Counter)
    material: int = 0
    smoothed: bool = False
