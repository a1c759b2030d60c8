"""The lines of an OBJ file as arrays: vertices, and faces by the numbers of their vertices.

Source: Wavefront, Advanced Visualizer manual, appendix B1 (object files).
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from hra.domains.meshes.files.text_rows import floats, pieces, shown, uniform_numbers, word_counts
from hra.errors import FileError

# How many numbers a line may have.
_POSITION, _COORDINATE, _NORMAL = (3, 4, 6, 7), (1, 2, 3), (3,)
_NO_GEOMETRY = {
    *(b"o", b"g", b"s", b"mg", b"bevel", b"c_interp", b"d_interp", b"lod", b"maplib", b"usemap", b"shadow_obj"),
    *(b"trace_obj", b"ctech", b"stech", b"vp", b"cstype", b"deg", b"bmat", b"step", b"parm", b"trim", b"hole", b"scrv"),
    *(b"sp", b"end", b"con", b"call", b"csh"),
}
SHORT = b"f "
LEFT_OUT = {
    **{b"l": "lines", b"p": "points", b"curv": "curves", b"curv2": "curves", b"surf": "surfaces"},
    SHORT: "faces of fewer than three corners",
}
# Lines of one kind, one after the other, without comments and continuations; or any other line.
_RUN = re.compile(
    rb"(?P<v>(?:v[ \t][^\n#\\_]*+\n)++)|(?P<vt>(?:vt[ \t][^\n#\\_]*+\n)++)|(?P<vn>(?:vn[ \t][^\n#\\_]*+\n)++)"
    rb"|(?P<f>(?:f[ \t][^\n#\\_]*+\n)++)|[^\n]*+\n"
)
NONE = np.iinfo(np.int64).min


@dataclass(eq=False)
class ObjLines:
    """What an OBJ file says, line by line.

    Attributes
    ----------
    positions : three numbers a vertex; colors : three a vertex, empty if no vertex has any.
    uv : two a coordinate; normals : three a normal.
    corners : three numbers a corner: vertex, coordinate and normal from 0, NONE where there is none.
    sizes : corners of each face; face_lines : of each face; face_material : number of its name among ``materials``.
    libraries, materials : names, the first material is none at all.
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


def read_lines(data: bytes, where: str) -> ObjLines:
    """All lines of an OBJ file, with lines that end in a backslash joined.

    Raises
    ------
    FileError : a line of a vertex or face that the format does not have, with its number.
    """
    found = ObjLines()
    slowly = _LineByLine(found, where)
    for number, piece in pieces(data[3:] if data.startswith(b"\xef\xbb\xbf") else data):
        for run in _RUN.finditer(piece):
            lines = run.group()
            reader = _FAST.get(run.lastgroup or "")
            if slowly.begun or reader is None or not reader(found, lines, number):
                slowly.read(lines, number)
            number += lines.count(b"\n")
    slowly.end()
    return found


class _LineByLine:
    """Reads any lines, and says what is wrong with which."""

    def __init__(self, found: ObjLines, where: str) -> None:
        self.found, self.where = found, where
        self.begun, self._first = b"", 0

    def read(self, lines: bytes, first: int) -> None:
        for number, line in enumerate(lines.split(b"\n")[:-1], first):
            if self.begun:
                line, number = self.begun + b" " + line, self._first
            if line.endswith(b"\\"):
                self.begun, self._first = line[:-1] or b" ", number
                continue
            self.begun = b""
            self._line(line, number)

    def _line(self, line: bytes, number: int) -> None:
        words = line.split()
        if not words or words[0].startswith(b"#"):
            return
        reader = _SLOW.get(words[0])
        if reader is not None:
            reader(self.found, words, line, f"{self.where}, line {number}")
            if reader is _face and len(self.found.sizes) > len(self.found.face_lines):
                self.found.face_lines.append(number)
        elif words[0] not in _NO_GEOMETRY:
            self.found.passed_over[words[0]] += 1

    def end(self) -> None:
        """Raise FileError if a line was to be continued."""
        if self.begun:
            what = "the last line is to be continued, but the file ends"
            raise FileError(what, where=f"{self.where}, line {self._first}")


def _numbers(words: list[bytes], line: bytes, counts: tuple[int, ...], where: str) -> list[float]:
    if b"#" in line:
        words = line.partition(b"#")[0].split()
    if len(words) - 1 not in counts:
        what = f"a line has {len(words) - 1} numbers, not {' or '.join(map(str, counts))}: {shown(line)}"
        raise FileError(what, where=where)
    return floats(words[1:], line, where)


def _position(found: ObjLines, words: list[bytes], line: bytes, where: str) -> None:
    numbers = _numbers(words, line, _POSITION, where)
    count = len(found.positions)
    found.positions.extend(numbers[:3])
    if len(numbers) >= 6 or found.colors:
        # Vertices above the first coloured one, and others without a colour, are white.
        found.colors.extend([1.0] * (count - len(found.colors)))
        found.colors.extend(numbers[-3:] if len(numbers) >= 6 else [1.0] * 3)


def _coordinate(found: ObjLines, words: list[bytes], line: bytes, where: str) -> None:
    numbers = _numbers(words, line, _COORDINATE, where)
    found.uv.extend([numbers[0], numbers[1] if len(numbers) > 1 else 0.0])


def _normal(found: ObjLines, words: list[bytes], line: bytes, where: str) -> None:
    found.normals.extend(_numbers(words, line, _NORMAL, where))


def _face(found: ObjLines, words: list[bytes], line: bytes, where: str) -> None:
    if b"#" in line:
        words = line.partition(b"#")[0].split()
    if len(words) < 2 or b"_" in line:
        raise FileError(f"this is no face: {shown(line)}", where=where)
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
        raise FileError(f"this is no face: {shown(line)}", where=where) from error
    if len(kinds) > 1:
        raise FileError(f"corners of one face are of different kinds: {shown(line)}", where=where)
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


def _library(found: ObjLines, words: list[bytes], line: bytes, where: str) -> None:
    found.libraries.append(line.strip()[len(b"mtllib") :].strip().decode())


_SLOW = {
    **{b"v": _position, b"vt": _coordinate, b"vn": _normal, b"f": _face, b"fo": _face},
    **{b"usemtl": _use, b"mtllib": _library},
}


def _rows(lines: bytes) -> np.ndarray | None:
    """The numbers of a run of lines [L, k]; None unless all are plain and every line has as many."""
    fast = uniform_numbers(lines.translate(None, b"vtn"))
    if fast is None or (fast[1] != fast[1][0]).any() or not fast[1][0]:
        return None
    return fast[0].reshape(len(fast[1]), -1)


def _fast_positions(found: ObjLines, lines: bytes, first: int) -> bool:
    rows = _rows(lines)
    if rows is None or rows.shape[1] != 3 or found.colors:
        return False
    found.positions.frombytes(rows.tobytes())
    return True


def _fast_coordinates(found: ObjLines, lines: bytes, first: int) -> bool:
    rows = _rows(lines)
    if rows is None or rows.shape[1] not in (2, 3):
        return False
    found.uv.frombytes(rows[:, :2].tobytes())
    return True


def _fast_normals(found: ObjLines, lines: bytes, first: int) -> bool:
    rows = _rows(lines)
    if rows is None or rows.shape[1] != 3:
        return False
    found.normals.frombytes(rows.tobytes())
    return True


def _fast_faces(found: ObjLines, lines: bytes, first: int) -> bool:
    """Faces whose corners are all of one kind: v, v/vt, v//vn or v/vt/vn."""
    text = lines.translate(None, b"f")
    if text.translate(None, b"0123456789-/ \t\n"):
        return False
    sizes, columns = word_counts(text), _columns(text)
    if columns is None or (sizes < 3).any():
        return False
    fast = uniform_numbers(text.replace(b"/", b" "))
    if fast is None or fast[0].size != sizes.sum() * len(columns) or (np.abs(fast[0]) > 2**53).any():
        return False
    counts = np.array([len(found.positions) // 3, len(found.uv) // 2, len(found.normals) // 3])
    numbers = fast[0].reshape(-1, len(columns)).astype(np.int64)
    resolved = np.where(numbers > 0, numbers - 1, numbers + counts[columns])
    if (numbers == 0).any() or (resolved < 0).any():
        return False
    corners = np.full((len(numbers), 3), NONE)
    corners[:, columns] = resolved
    found.corners.frombytes(corners.tobytes())
    found.sizes.frombytes(sizes.astype(np.int64).tobytes())
    found.face_lines.frombytes(np.arange(first, first + len(sizes)).tobytes())
    found.face_material.frombytes(np.full(len(sizes), found.material).tobytes())
    return True


def _columns(text: bytes) -> list[int] | None:
    """Which of vertex, coordinate and normal every corner has; None where corners differ."""
    slash = np.frombuffer(text, np.uint8) == ord("/")
    blank = np.frombuffer(text, np.uint8) <= ord(" ")
    ends = np.flatnonzero(~blank[:-1] & blank[1:])
    slashes = np.diff(np.cumsum(slash)[ends], prepend=0)
    kind = int(slashes[0]) if len(slashes) else -1
    if kind not in (0, 1, 2) or (slashes != kind).any() or slash[ends].any():
        return None
    begins = np.flatnonzero(blank[:-1] & ~blank[1:]) + 1
    if slash[begins].any() or slash[0]:
        return None
    doubled = text.count(b"//")
    if doubled == 0:
        return [0, 1, 2][: kind + 1]
    return [0, 2] if kind == 2 and doubled == len(ends) else None


_FAST = {"v": _fast_positions, "vt": _fast_coordinates, "vn": _fast_normals, "f": _fast_faces}
