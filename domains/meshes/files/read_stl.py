"""STL in, binary and text: positions of the corners; normals and colours are passed over."""

from __future__ import annotations

import struct
from array import array

import numpy as np

from hra.domains.meshes.files.parsed import Parsed
from hra.errors import FileError
from hra.files.limits import DEFAULT, Limits
from hra.files.ply.text_rows import floats, numbered_lines, quote

_HEADER = 84
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
# What the lines of a facet begin with.
_FACET = (b"facet", b"outer", b"vertex", b"vertex", b"vertex", b"endloop", b"endfacet")


def read_stl(data: bytes, where: str, *, limits: Limits = DEFAULT) -> Parsed:
    """The triangles of an STL file; each has vertices of its own.

    Raises
    ------
    FileError : the number of triangles does not match the file's size, or a line of a text is out of place.
    """
    count = _binary_count(data)
    if count is not None:
        limits.check("triangles", count, where)
        corners = np.frombuffer(data, _TRIANGLE, count, _HEADER)["corners"].reshape(-1, 3)
    elif data[:80].lstrip()[:5].lower() == b"solid":
        corners = _text(data, where)
    else:
        what = "the number of triangles in the STL header does not match the file's size"
        raise FileError(what, where=where, fix="copy or export it again")
    return Parsed(corners, np.arange(len(corners)).reshape(-1, 3), shares_vertices=False)


def _binary_count(data: bytes) -> int | None:
    """How many triangles a binary file has; None if it is not a binary file."""
    if len(data) < _HEADER:
        return None
    (count,) = struct.unpack_from("<I", data, _HEADER - 4)
    return count if len(data) == _HEADER + _TRIANGLE.itemsize * count else None


def _text(data: bytes, where: str) -> np.ndarray:
    """Corners [n, 3] of a text; facets stand line by line, and only between ``solid`` and ``endsolid``."""
    values, step, within = array("d"), 0, False
    for number, line in numbered_lines(data):
        words = line.split()
        if not words:
            continue
        word, place = words[0].lower(), f"{where}, line {number}"
        if step == 0 and word == (b"endsolid" if within else b"solid"):
            within = not within
            continue
        if not within or word != _FACET[step]:
            raise FileError(f"a line of the text STL file is out of place: {quote(line)}", where=place)
        if word == b"vertex":
            if len(words) != 4:
                raise FileError(f"a vertex has {len(words) - 1} coordinates", where=place)
            values.extend(floats(words[1:], line, place))
        step = (step + 1) % len(_FACET)
    if within:
        raise FileError("the text STL file ends before 'endsolid'", where=where, fix="copy or export it again")
    return np.frombuffer(values, np.float64).reshape(-1, 3) if values else np.empty((0, 3))
