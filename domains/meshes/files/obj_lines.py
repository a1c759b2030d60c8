"""The lines of an OBJ file: runs of one kind at once, all others one by one."""

from __future__ import annotations

from hra.domains.meshes.files.obj_found import ObjLines
from hra.domains.meshes.files.obj_runs import FAST, RUN
from hra.domains.meshes.files.obj_words import NO_GEOMETRY, READERS
from hra.errors import FileError
from hra.files.ply.text_rows import pieces


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
            what = "the last line is to be continued, but the file ends"
            raise FileError(what, where=f"{self.where}, line {self._first}")
