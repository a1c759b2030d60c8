"""OFF in: positions and faces; colours, normals and texture coordinates are passed over.

Source: Geomview's manual, OFF files. Four-dimensional and binary files are not read.
"""

from __future__ import annotations

import re

import numpy as np

from hra.domains.meshes.files.parsed import Parsed
from hra.domains.meshes.files.polygons import triangulate
from hra.errors import FileError
from hra.files.limits import DEFAULT, Limits
from hra.files.ply.text_rows import Rows, pieces, quote, read_rows, whole_numbers

_COMMENT = re.compile(rb"#[^\n]*")
_LINE_END = re.compile(rb"\r\n|\r|\n")
# Blank lines and comments, the word, perhaps more of them, and the rest of the first line that has any.
_BLANK = rb"(?:[ \t]*+(?:#[^\r\n]*+)?+(?:\r\n|\r|\n))*+[ \t]*+"
_HEAD = re.compile(
    _BLANK + rb"(?:ST)?C?N?OFF(?![^\s#])" + _BLANK + rb"(?P<counts>[^\r\n#]*+)(?:#[^\r\n]*+)?+(?:\r\n|\r|\n|\Z)"
)
_FIX = "copy or export it again"


def read_off(data: bytes, where: str, *, limits: Limits = DEFAULT) -> Parsed:
    """The triangles of an OFF file.

    Raises
    ------
    FileError : another format, rows that the header promises are missing or too many, or a face is wrong.
    """
    vertices, faces, begin, line = _counts(data, where)
    limits.check("vertices", vertices, where)
    limits.check("triangles", faces, where)
    rows = _rows(data, begin, line, where)
    if len(rows) != vertices + faces:
        what = f"the header promises {vertices} vertices and {faces} faces, but there are {len(rows)} rows"
        raise FileError(what, where=where, fix=_FIX)
    corners, offsets = _corners(rows.part(vertices, len(rows)), where)
    places, polygons = triangulate(corners, offsets, where)
    return Parsed(_positions(rows.part(0, vertices), where), corners[places], polygons=polygons)


def _rows(data: bytes, begin: int, line: int, where: str) -> Rows:
    found = pieces(data, begin, line)
    return read_rows(((number, _COMMENT.sub(b"", piece)) for number, piece in found), where)


def _counts(data: bytes, where: str) -> tuple[int, int, int, int]:
    """The numbers of vertices and faces, on the line of the word OFF or on the next one; byte and line behind them."""
    head = _HEAD.match(data)
    if not head:
        raise FileError(f"this is not an OFF file: it begins with {quote(data[:100])}", where=where)
    counts = head["counts"].split()
    line = len(_LINE_END.findall(data, 0, head.end()))
    if len(counts) not in (2, 3) or not all(count.isdigit() and len(count) < 16 for count in counts):
        what = f"these are not counts of an OFF file: {quote(head['counts'])}"
        raise FileError(what, where=f"{where}, line {line}")
    return int(counts[0]), int(counts[1]), head.end(), line + 1


def _positions(rows: Rows, where: str) -> np.ndarray:
    """Positions [V, 3]; every vertex has as many further numbers."""
    counts = rows.counts
    odd = np.flatnonzero((counts < 3) | (counts != counts[:1]))
    if odd.size:
        what = f"a vertex has {counts[odd[0]]} numbers, others have {counts[0]}, and at least 3 are needed"
        raise FileError(what, where=rows.place(odd[0], where))
    return rows.values.reshape(len(rows), -1)[:, :3] if len(rows) else np.empty((0, 3))


def _corners(rows: Rows, where: str) -> tuple[np.ndarray, np.ndarray]:
    """Vertex numbers of all faces and where each begins; a colour may stand behind them."""
    sizes = whole_numbers("a number of corners", rows.values[rows.offsets[:-1]], where)
    odd = np.flatnonzero((sizes < 0) | (sizes > rows.counts - 1))
    if odd.size:
        raise FileError(f"a face has fewer than its {sizes[odd[0]]} corners", where=rows.place(odd[0], where), fix=_FIX)
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    places = np.arange(offsets[-1]) + np.repeat(rows.offsets[:-1] + 1 - offsets[:-1], sizes)
    return whole_numbers("a vertex number", rows.values[places], where), offsets
