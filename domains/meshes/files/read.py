"""Mesh files in: what a file promises is checked against its bytes first, and its arrays once they are read.

The simple formats are read here: OFF (positions and faces) and STL, binary (positions and colours) and text. Normals,
and what else OFF has of vertices and faces, are passed over; OFF of four dimensions and binary OFF are not read.

Source of OFF: Geomview's manual, OFF files. Of colours in STL: Wikipedia, STL (file format), Color in binary STL.
"""

from __future__ import annotations

import contextlib
import re
import shlex
import struct
from array import array
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from hra.domains.meshes.files.parsed import Parsed, at_corners, triangulate, vertex_attributes
from hra.domains.meshes.files.read_gltf import read_gltf
from hra.domains.meshes.files.read_obj import read_obj
from hra.domains.meshes.files.read_ply import read_ply
from hra.domains.meshes.files.resolver import SiblingFiles
from hra.domains.meshes.files.suffixes import GLTF, READ
from hra.domains.meshes.files.validate import from_arrays
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh
from hra.errors import FileError, HraError, MeshError, warn
from hra.files.limits import DEFAULT, Limits, enough_memory
from hra.files.local_files import local_path, read_regular
from hra.files.ply.text_rows import Rows, floats, numbered_lines, pieces, quote, read_rows, whole_numbers

_BUILT = (".hra",)
_COMMENT = re.compile(rb"#[^\n]*")
_LINE_END = re.compile(rb"\r\n|\r|\n")
# What some editors put before a text in UTF-8.
_MARK = b"\xef\xbb\xbf"
# Blank lines and comments, the word or none, perhaps more of them, and the rest of the first line that has any.
_BLANK = rb"(?:[ \t]*+(?:#[^\r\n]*+)?+(?:\r\n|\r|\n))*+[ \t]*+"
_HEAD = re.compile(
    _BLANK
    + rb"(?P<word>(?:ST)?C?N?OFF(?![^\s#]))?"
    + _BLANK
    + rb"(?P<counts>[^\r\n#]*+)(?:#[^\r\n]*+)?+(?:\r\n|\r|\n|\Z)"
)
_FIX = "copy or export it again"
_HEADER = 84
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
# What the lines of a facet begin with.
_FACET = (b"facet", b"outer", b"vertex", b"vertex", b"vertex", b"endloop", b"endfacet")


def load(path: str | Path, *, attributes: bool = True, repair: bool = False, limits: Limits = DEFAULT) -> TriangleMesh:
    """Read a mesh file (GLB, VRM, glTF, OBJ, OFF, PLY, STL); scenes are joined into one mesh, polygons triangulated.

    Texture coordinates, normals, colours, materials and base-colour images are kept (none of them from OFF). All other
    textures, samplers, second sets of coordinates and colours, tangents, material extensions, skins, morph targets,
    cameras and lights are left out.

    Nothing is fetched: network addresses are refused, and a file may only name files in its own folder.

    Parameters
    ----------
    attributes : whether anything but positions and triangles is read. Without, vertices at one position are merged.
    repair : drop faces with a vertex that is not finite, instead of refusing the file.
    limits : what reading may take; checked before it is taken.

    Raises
    ------
    FileError : missing, no regular file, of another format, truncated or otherwise malformed; attributes of another
        number than the vertices; a named file lies outside of the folder.
    LimitExceeded, OutOfMemory : it would take more than ``limits`` allow, or than the machine has.
    MeshError : no triangles, a coordinate that is not finite, an index out of range.
    MissingExtra : meshoptimizer is not installed.

    Warns
    -----
    RepairWarning : see `from_arrays`; also polygons, attributes that are not finite, missing or unreadable textures,
        and geometry other than triangles, which is left out.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> meshes.load(hra.samples.path("skull.ply"))
    TriangleMesh(42480 triangles, 21260 vertices)
    """
    file = checked_suffix(path, READ)
    with enough_memory("the mesh", str(path)):
        parsed = _parse(read_regular(file, limits), file, attributes, limits)
        if parsed.polygons:
            warn(f"{path}: polygons were triangulated")
        return from_arrays(
            parsed.positions,
            parsed.triangles,
            parsed.attributes,
            repair=repair,
            where=str(path),
            # Without attributes seams close up, which is not a repair.
            warn_duplicates=parsed.shares_vertices and attributes,
        )


def checked_suffix(path: str | Path, suffixes: tuple[str, ...]) -> Path:
    """``path`` as a path of this machine with one of ``suffixes``.

    Raises
    ------
    FileError : see `local_path`; or another suffix.
    """
    file = local_path(path)
    if file.suffix.lower() not in suffixes and not file.is_dir() and file.exists():
        what = f"the format {file.suffix[:20]!r} is not read here"
        raise FileError(what, where=str(path), fix=_other_way(file, suffixes))
    return file


def _other_way(file: Path, suffixes: tuple[str, ...]) -> str:
    """What to do with a source mesh where a built one is needed, and the other way round."""
    if suffixes == _BUILT and file.suffix.lower() in READ:
        return f"build it first: hra mesh build {shlex.quote(str(file))} -o {shlex.quote(file.stem)}.hra"
    if file.suffix.lower() in _BUILT:
        return "this mesh is built already: pass it to `hra mesh cut`, `render`, `lods` or meshes.open_asset"
    return f"use {', '.join(suffixes)}"


def _parse(content: bytes, file: Path, attributes: bool, limits: Limits) -> Parsed:
    suffix, where = file.suffix.lower(), str(file)
    if not content:
        raise FileError("the file is empty", where=where)
    files = SiblingFiles(file.parent, limits, len(content))
    with _type_values(suffix[1:], where):
        if suffix in GLTF:
            return read_gltf(content, files, where, attributes=attributes, limits=limits)
        if suffix == ".obj":
            return read_obj(content, files, where, attributes=attributes, limits=limits)
        if suffix == ".ply":
            return read_ply(content, files, where, attributes=attributes, limits=limits)
        if suffix == ".stl":
            return read_stl(content, where, attributes=attributes, limits=limits)
        return read_off(content, where, attributes=attributes, limits=limits)


@contextlib.contextmanager
def _type_values(kind: str, where: str) -> Iterator[None]:
    """Errors of materials and triangles get the file's name."""
    try:
        yield
    except MeshError as error:
        if where in error.where:
            raise
        raise MeshError(error.what, where=f"{where}, {error.where}", fix=error.fix) from error
    except HraError:
        raise


def read_off(data: bytes, where: str, *, attributes: bool = True, limits: Limits = DEFAULT) -> Parsed:
    """The triangles of an OFF file.

    Raises
    ------
    FileError : another format, rows that the header promises are missing or too many, or a face is wrong.

    Warns
    -----
    RepairWarning : vertices or faces have more numbers, such as colours and normals, which are left out.
    """
    vertices, faces, begin, line = _counts(data, where)
    limits.check("vertices", vertices, where)
    limits.check("triangles", faces, where)
    rows = _rows(data, begin, line, where)
    if len(rows) != vertices + faces:
        what = f"the header promises {vertices} vertices and {faces} faces, but there are {len(rows)} rows"
        raise FileError(what, where=where, fix=_FIX)
    corners, offsets = _corners(rows.part(vertices, len(rows)), where)
    own, of_faces = rows.part(0, vertices).counts, rows.part(vertices, len(rows)).counts
    lost = {"vertices": bool((own > 3).any()), "faces": len(corners) + faces < int(of_faces.sum())}
    if attributes and any(lost.values()):
        named = " and ".join(name for name, there in lost.items() if there)
        what = f"{where}: colours and other numbers of {named} were left out: of OFF positions and faces are read"
        warn(what)
    positions = _positions(rows.part(0, vertices), where)
    places, polygons = triangulate(corners, offsets, where, at_corners(positions, corners))
    return Parsed(positions, corners[places], polygons=polygons)


def _rows(data: bytes, begin: int, line: int, where: str) -> Rows:
    found = pieces(data, begin, line)
    return read_rows(((number, _COMMENT.sub(b"", piece)) for number, piece in found), where)


def _counts(data: bytes, where: str) -> tuple[int, int, int, int]:
    """The numbers of vertices and faces, beside the word OFF, after it or without it; byte and line behind them."""
    head = _HEAD.match(data, len(_MARK) if data.startswith(_MARK) else 0)
    counts = head["counts"].split() if head else []
    whole = len(counts) in (2, 3) and all(count.isdigit() and len(count) < 16 for count in counts)
    if not head or not (head["word"] or whole):
        raise FileError(f"this is not an OFF file: it begins with {quote(data[:100])}", where=where)
    line = len(_LINE_END.findall(data, 0, head.end()))
    if not whole:
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


def read_stl(data: bytes, where: str, *, attributes: bool = True, limits: Limits = DEFAULT) -> Parsed:
    """The triangles of an STL file with the colours of a binary one; each has vertices of its own.

    Raises
    ------
    FileError : the number of triangles does not match the file's size, or a line of a text is out of place.

    Warns
    -----
    RepairWarning : triangles have numbers that are not colours.
    """
    count, carried = _binary_count(data), None
    if count is not None:
        limits.check("triangles", count, where)
        rows = np.frombuffer(data, _TRIANGLE, count, _HEADER)
        corners = rows["corners"].reshape(-1, 3)
        if attributes and count:
            colors = _stl_colors(data[: _HEADER - 4], rows["attribute"], where)
            carried = vertex_attributes(
                3 * count, where, colors=None if colors is None else np.repeat(colors, 3, axis=0)
            )
    elif (text := data.removeprefix(_MARK))[:80].lstrip()[:5].lower() == b"solid":
        corners = _text(text, where)
    else:
        what = "the number of triangles in the STL header does not match the file's size"
        raise FileError(what, where=where, fix="copy or export it again")
    return Parsed(corners, np.arange(len(corners)).reshape(-1, 3), carried, shares_vertices=False)


def _stl_colors(head: bytes, numbers: np.ndarray, where: str) -> np.ndarray | None:
    """Colours uint8 [F, 4] of all triangles by the numbers after them; None if there are none.

    Two ways to write them are in use, five bits for each of red, green and blue. Magics names a colour for all in the
    header, and a number without its highest bit has one of its own, red lowest. For VisCAM and SolidView a number has
    a colour if its highest bit is set, blue lowest; other triangles stay white.
    """
    named = head.find(b"COLOR=")
    of_all, marked = head[named + 6 : named + 10] if named >= 0 else b"", numbers >> 15 > 0
    low, middle, high = ((numbers >> shift & 31) * 255 / 31 for shift in (0, 5, 10))
    if len(of_all) == 4:
        own, shades, rest = ~marked, (low, middle, high), np.frombuffer(of_all, np.uint8)
    elif marked.any():
        own, shades, rest = marked, (high, middle, low), np.full(4, 255, np.uint8)
    else:
        if numbers.any():
            what = f"{where}: the numbers of {np.count_nonzero(numbers)} triangles are not colours and were left out"
            warn(what)
        return None
    found = np.column_stack([*(np.rint(shade) for shade in shades), np.full(len(numbers), 255)])
    return np.where(own[:, None], found, rest).astype(np.uint8)


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
