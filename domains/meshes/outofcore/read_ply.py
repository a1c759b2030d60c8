"""Binary PLY files of triangles, block by block; only positions are read."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from hra.domains.meshes.outofcore.indexed import Rows
from hra.errors import FileError, RepairWarning
from hra.files.limits import Limits
from hra.files.ply.binary import ByteOrder
from hra.files.ply.header import Element, parse_ply_header

_BLOCK = 2**15
# Nothing is held of the file: what counts is that its rows are there.
_LIMITS = Limits(vertices=2**40, triangles=2**40)
_CORNERS = ("vertex_indices", "vertex_index")
_SHAPE = {"x", "y", "z"}


def ply_blocks(file: Path, scratch: Path) -> Iterator[np.ndarray]:
    """Corners float32 [n, 9].

    Raises
    ------
    FileError : a text, faces other than triangles, or rows of another form than vertices and then faces.

    Warns
    -----
    RepairWarning : vertices carry more than positions, which is left out.
    """
    with file.open("rb") as stream:
        start, size = stream.read(_LIMITS.header_bytes), file.stat().st_size
        header = parse_ply_header(start, str(file), _LIMITS, size)
        by_name = {element.name: element for element in header.elements}
        vertex, face = by_name.get("vertex"), by_name.get("face")
        if not header.order or vertex is None or face is None or header.elements[:2] != (vertex, face):
            raise _refusal("only binary PLY files of vertices and then faces are read in blocks", file)
        if not {entry.name for entry in vertex.properties} >= _SHAPE or any(e.length for e in vertex.properties):
            raise _refusal("the vertices of the PLY file are not rows with x, y and z", file)
        if len(vertex.properties) > len(_SHAPE):
            what = f"{file}: what vertices carry beside positions was left out"
            warnings.warn(what, RepairWarning, stacklevel=2)
        kind = np.dtype([(entry.name, entry.dtype.newbyteorder(header.order)) for entry in vertex.properties])
        rows = Rows(stream, kind, header.begin, vertex.count, file)
        faces, name = _face_type(face, header.order, file)
        begin = header.begin + vertex.count * kind.itemsize
        if file.stat().st_size < begin + face.count * faces.itemsize:
            raise _refusal("the PLY file has faces of other than three corners, or ends before they do", file)
        for first in range(0, face.count, _BLOCK):
            stream.seek(begin + first * faces.itemsize)
            block = np.fromfile(stream, faces, min(_BLOCK, face.count - first))
            if (block["corners in all"] != 3).any():
                raise _refusal("the PLY file has faces of other than three corners", file)
            yield rows.positions(block[name].astype(np.int64)).reshape(-1, 9)


def _face_type(face: Element, order: ByteOrder, file: Path) -> tuple[np.dtype, str]:
    lists = [entry for entry in face.properties if entry.length]
    if len(lists) != 1 or lists[0].name not in _CORNERS or lists[0].dtype.kind == "f":
        raise _refusal("the faces of the PLY file are not rows with one list of corners", file)
    fields = []
    for entry in face.properties:
        own = entry.dtype.newbyteorder(order or "=")
        if entry.length:
            fields.append(("corners in all", entry.length.newbyteorder(order or "=")))
        fields.append((entry.name, own, (3,)) if entry.length else (entry.name, own))
    return np.dtype(fields), lists[0].name


def _refusal(what: str, file: Path) -> FileError:
    return FileError(what, where=str(file), fix="export it as binary PLY of triangles, or build it in memory")
