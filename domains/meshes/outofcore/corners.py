"""Mesh files as blocks of triangle corners, of which only positions are read: OBJ, binary PLY, binary STL, or a folder.

Faces of OBJ files may name vertices from anywhere, so these go to a file of their own first.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from hra.domains.meshes.files.parsed import triangulate
from hra.domains.meshes.mesh.ragged import run_offsets
from hra.domains.meshes.outofcore.welding import Rows
from hra.errors import FileError, MeshError, warn
from hra.files.file_list import FileList
from hra.files.limits import Limits
from hra.files.local_files import local_path
from hra.files.ply.binary import ByteOrder
from hra.files.ply.columns import origin_between, split_origin
from hra.files.ply.header import Element, parse_ply_header

_BLOCK_BYTES = 2**22
_POSITION = np.dtype([(axis, "<f8") for axis in "xyz"])
_CARRIED = (b"vt ", b"vn ", b"usemtl")
_FACES_AT_ONCE = 2**15
# Nothing is held of the file: what counts is that its rows are there.
_LIMITS = Limits(vertices=2**40, triangles=2**40)
_CORNERS = ("vertex_indices", "vertex_index")
_SHAPE = {"x", "y", "z"}
_HEADER, _TRIANGLES_AT_ONCE = 84, 2**16
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", 9), ("attribute", "<u2")])


def obj_blocks(file: Path, scratch: Path) -> Iterator[np.ndarray]:
    """Corners float64 [n, 9]; polygons are triangulated.

    Raises
    ------
    FileError : a vertex or a face that is none.

    Warns
    -----
    RepairWarning : texture coordinates, normals and materials are left out.
    """
    carried, count = False, 0
    with scratch.open("wb") as out:
        for lines in _line_blocks(file):
            positions = _positions(lines, file)
            positions.tofile(out)
            count += len(positions)
            carried = carried or any(line.startswith(_CARRIED) for line in lines)
    if carried:
        what = f"{file}: texture coordinates, normals and materials were left out"
        warn(what)
    with scratch.open("rb") as stream:
        rows, before = Rows(stream, _POSITION, 0, count, file), 0
        for lines in _line_blocks(file):
            corners, sizes, before = _faces(lines, before, file)
            if len(corners):
                positions = rows.positions(corners)
                yield positions[triangulate(corners, run_offsets(sizes), str(file), positions)[0]].reshape(-1, 9)


def _line_blocks(file: Path) -> Iterator[list[bytes]]:
    with file.open("rb") as stream:
        while lines := stream.readlines(_BLOCK_BYTES):
            yield [line.replace(b"\t", b" ").lstrip() for line in lines]


def _positions(lines: list[bytes], file: Path) -> np.ndarray:
    rows = [line.split()[1:4] for line in lines if line.startswith(b"v ")]
    try:
        return np.array(rows, np.float64).reshape(len(rows), 3)
    except ValueError as error:
        raise FileError("a vertex of the OBJ file has fewer than three coordinates", where=str(file)) from error


def _faces(lines: list[bytes], before: int, file: Path) -> tuple[np.ndarray, np.ndarray, int]:
    """Corners int64 [n] from 0, how many each face has, and how many vertices there are by the end of the block."""
    found: list[int] = []
    sizes: list[int] = []
    try:
        for line in lines:
            if line.startswith(b"v "):
                before += 1
            elif line.startswith(b"f "):
                words = [int(word.partition(b"/")[0]) for word in line.partition(b"#")[0].split()[1:]]
                corners = [number - 1 if number > 0 else before + number for number in words]
                if len(corners) < 3 or 0 in words:
                    raise ValueError
                found += corners
                sizes.append(len(corners))
        return np.array(found, np.int64), np.array(sizes, np.int64), before
    except (ValueError, OverflowError) as error:
        raise FileError("a face of the OBJ file is malformed", where=str(file)) from error


def ply_blocks(file: Path, scratch: Path) -> Iterator[np.ndarray]:
    """Corners float64 [n, 9].

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
            what = f"{file}: attributes of vertices other than positions were left out"
            warn(what)
        kind = np.dtype([(entry.name, entry.dtype.newbyteorder(header.order)) for entry in vertex.properties])
        rows = Rows(stream, kind, header.begin, vertex.count, file)
        faces, name = _face_type(face, header.order, file)
        begin = header.begin + vertex.count * kind.itemsize
        if file.stat().st_size < begin + face.count * faces.itemsize:
            raise _refusal("the PLY file has faces that are not triangles, or ends before they do", file)
        for first in range(0, face.count, _FACES_AT_ONCE):
            stream.seek(begin + first * faces.itemsize)
            block = np.fromfile(stream, faces, min(_FACES_AT_ONCE, face.count - first))
            if (block["corners in all"] != 3).any():
                raise _refusal("the PLY file has faces that are not triangles", file)
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


def stl_blocks(file: Path, scratch: Path) -> Iterator[np.ndarray]:
    """Corners float32 [n, 9].

    Raises
    ------
    FileError : a text, or the number of triangles does not match the file's size.
    """
    with file.open("rb") as stream:
        head = stream.read(_HEADER)
        count = int.from_bytes(head[80:84], "little")
        if len(head) < _HEADER or file.stat().st_size != _HEADER + count * _TRIANGLE.itemsize:
            what = "this is not a binary STL file, or the number of triangles in its header does not match its size"
            raise FileError(what, where=str(file), fix="export it as binary STL or binary PLY")
        for begin in range(0, count, _TRIANGLES_AT_ONCE):
            yield np.fromfile(stream, _TRIANGLE, min(_TRIANGLES_AT_ONCE, count - begin))["corners"].astype(np.float32)


_READERS = {".obj": obj_blocks, ".ply": ply_blocks, ".stl": stl_blocks}
SUFFIXES = frozenset(_READERS)


def source_files(source: str | os.PathLike[str]) -> list[Path]:
    """The file ``source``, or the parts of a mesh in the folder ``source``, by name.

    Raises
    ------
    FileError : not there, of a format that is not read in blocks, or a folder without such files.
    """
    path = local_path(source)
    if path.is_dir():
        found = FileList.of(path, SUFFIXES)
        return [found.root / name for name in found.names]
    if path.suffix.lower() not in SUFFIXES:
        what = f"the format {path.suffix[:20]!r} is not read in blocks"
        raise FileError(what, where=str(path)[:500], fix="use binary PLY, binary STL or OBJ, or build it in memory")
    if not path.is_file():
        raise FileError("the file does not exist", where=str(path)[:500], fix="check the path")
    return [path]


def origin_of(files: list[Path], scratch: Path) -> tuple[float, float, float]:
    """What positions of all files count from, see `split_origin`; files are read twice only where they may need one."""
    low, high, rounded = np.full(3, np.inf), np.full(3, -np.inf), False
    for number, block in enumerate(_blocks(files, scratch)):
        points = block.reshape(-1, 3)
        if number == 0 and not any(split_origin(points)[1]):
            break
        with np.errstate(over="ignore"):
            rounded = rounded or not np.array_equal(points.astype(np.float32), points)
        low, high = np.minimum(low, points.min(axis=0)), np.maximum(high, points.max(axis=0))
    return origin_between(low, high) if rounded and np.isfinite([low, high]).all() else (0.0, 0.0, 0.0)


def _blocks(files: list[Path], scratch: Path) -> Iterator[np.ndarray]:
    for file in files:
        yield from _READERS[file.suffix.lower()](file, scratch)


def corner_blocks(
    files: list[Path], scratch: Path, origin: tuple[float, float, float] = (0.0, 0.0, 0.0)
) -> Iterator[np.ndarray]:
    """The triangles of all ``files`` as positions of their corners, float32 [n, 9], block by block.

    Parameters
    ----------
    scratch : file that may be written, for vertices of texts. origin : what positions count from.

    Raises
    ------
    FileError : see the readers; MeshError : a coordinate is not finite.
    """
    for file in files:
        for block in _READERS[file.suffix.lower()](file, scratch):
            with np.errstate(over="ignore", invalid="ignore"):
                local = (block.reshape(-1, 9) - np.tile(origin, 3)).astype(np.float32)
            if not np.isfinite(local).all():
                raise MeshError("a coordinate is not finite", where=str(file), fix="repair the file")
            # -0.0 becomes 0.0: equal positions have equal bits.
            yield local + np.float32(0.0)
