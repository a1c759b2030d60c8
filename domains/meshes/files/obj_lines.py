"""The lines of an OBJ file: runs of one kind as one array where all in them is plain, all others one by one."""

from __future__ import annotations

import re

import numpy as np

from hra.domains.meshes.files.obj_words import NO_GEOMETRY, NONE, READERS, ObjLines
from hra.errors import FileError
from hra.files.ply.text_rows import pieces, uniform_numbers, word_counts

# Lines of one kind, one after the other, without comments and continuations; or any other line.
RUN = re.compile(
    rb"(?P<v>(?:v[ \t][^\n#\\_]*+\n)++)|(?P<vt>(?:vt[ \t][^\n#\\_]*+\n)++)|(?P<vn>(?:vn[ \t][^\n#\\_]*+\n)++)"
    rb"|(?P<f>(?:f[ \t][^\n#\\_]*+\n)++)|[^\n]*+\n"
)


def read_lines(data: bytes, where: str) -> ObjLines:
    """All lines of an OBJ file, with lines that end in a backslash joined.

    Raises
    ------
    FileError : a line of a vertex or face that the format does not have, with its number.
    """
    found = ObjLines()
    slowly = _LineByLine(found, where)
    for number, piece in pieces(data[3:] if data.startswith(b"\xef\xbb\xbf") else data):
        for run in RUN.finditer(piece):
            lines = run.group()
            reader = FAST.get(run.lastgroup or "")
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
        reader = READERS.get(words[0])
        if reader is not None:
            reader(self.found, words, line, f"{self.where}, line {number}")
            if len(self.found.sizes) > len(self.found.face_lines):
                self.found.face_lines.append(number)
        elif words[0] not in NO_GEOMETRY:
            self.found.passed_over[words[0]] += 1

    def end(self) -> None:
        """Raise FileError if a line was to be continued."""
        if self.begun:
            what = "the last line continues, but the file ends"
            raise FileError(what, where=f"{self.where}, line {self._first}")


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
    if fast is None or fast[0].size != sizes.sum() * len(columns) or (np.abs(fast[0]) >= 2**53).any():
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


FAST = {"v": _fast_positions, "vt": _fast_coordinates, "vn": _fast_normals, "f": _fast_faces}
