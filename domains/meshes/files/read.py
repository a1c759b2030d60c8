"""Mesh files in: read by trimesh, checked before and after, because trimesh alone lets many broken files pass."""

from __future__ import annotations

import io
import re
import warnings
from pathlib import Path

import numpy as np

from hra.domains.meshes.files.parsed import Parsed
from hra.domains.meshes.files.precheck import precheck
from hra.domains.meshes.files.read_gltf import read_gltf
from hra.domains.meshes.files.read_obj import read_obj
from hra.domains.meshes.files.read_ply import read_ply
from hra.domains.meshes.files.resolver import SiblingFiles
from hra.domains.meshes.files.validate import from_arrays
from hra.domains.meshes.triangle_mesh import TriangleMesh
from hra.errors import FileError, HraError, MissingExtra, RepairWarning

SUFFIXES = (".glb", ".gltf", ".obj", ".off", ".ply", ".stl")
# A larger file would not fit into memory several times over, which parsing takes.
MAX_FILE_BYTES = 4 * 2**30
_OFF_COUNTS = re.compile(rb"\s*(?:#[^\n]*\n\s*)*[A-Z]*OFF\s+(?:#[^\n]*\n\s*)*\d+\s+(\d+)")


def load(path: str | Path, *, attributes: bool = True, repair: bool = False) -> TriangleMesh:
    """Read a mesh file (GLB, glTF, OBJ, OFF, PLY, STL); scenes are joined into one mesh, polygons triangulated.

    Texture coordinates, normals, vertex colours, materials and base-colour images are kept (OFF and STL have none that
    are read). Left out are all other textures, texture transforms and samplers, second sets of coordinates and colours,
    tangents, material extensions, skins, morph targets, cameras and lights.

    Nothing is fetched: network addresses are refused, and a file may only name files in its own folder.

    Parameters
    ----------
    attributes : whether anything but positions and triangles is read. Without, vertices at one position are merged.
    repair : drop faces with a vertex that is not finite, instead of refusing the file.

    Raises
    ------
    FileError : missing, unreadable, too large, of another format, truncated or otherwise malformed; attributes of
        another number than the vertices; a named file lies outside of the folder.
    MeshError : no triangles, a coordinate that is not finite, an index out of range.
    MissingExtra : trimesh or meshoptimizer is not installed.

    Warns
    -----
    RepairWarning : see `from_arrays`; also polygons, attributes that are not finite, missing or unreadable textures.
    """
    file = checked_file(path, SUFFIXES)
    parsed = _parse(_content(file), file, attributes)
    if parsed.polygons:
        warnings.warn(f"{path}: polygons were triangulated", RepairWarning, stacklevel=2)
    return from_arrays(
        parsed.positions,
        parsed.triangles,
        parsed.attributes,
        repair=repair,
        where=str(path),
        # Without attributes seams close up, which is no repair.
        warn_duplicates=parsed.shares_vertices and attributes,
    )


def checked_file(path: str | Path, suffixes: tuple[str, ...]) -> Path:
    """``path`` as a readable file with one of ``suffixes``.

    Raises
    ------
    FileError : a network address, missing, not a file, too large, or another suffix.
    """
    if "://" in str(path):
        raise FileError("addresses are not read, only local files", where=str(path), fix="download the file first")
    file = Path(path)
    if not file.is_file():
        raise FileError("there is no such file", where=str(path), fix="check the path")
    if file.suffix.lower() not in suffixes:
        raise FileError(f"the format {file.suffix!r} is not read", where=str(path), fix=f"use {', '.join(suffixes)}")
    size = file.stat().st_size
    if size > MAX_FILE_BYTES:
        raise FileError(f"the file has {size} bytes, more than {MAX_FILE_BYTES}", where=str(path), fix="split the mesh")
    return file


def _content(file: Path) -> bytes:
    """The bytes of a mesh file whose header can be true."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise FileError(f"the file cannot be read: {error.strerror}", where=str(file)) from error
    precheck(data, file.suffix.lower()[1:], str(file))
    return data


def _parse(content: bytes, file: Path, attributes: bool) -> Parsed:
    try:
        import trimesh  # noqa: F401
    except ImportError as error:
        raise MissingExtra.of("trimesh", "meshes") from error
    kind = file.suffix.lower()[1:]
    files = SiblingFiles(file.parent)
    try:
        if kind in ("glb", "gltf"):
            return read_gltf(content, files, str(file), attributes=attributes)
        if kind == "obj":
            return read_obj(content, files, str(file), attributes=attributes)
        if kind == "ply":
            return read_ply(content, files, str(file), attributes=attributes)
        return _read_bare(content, kind)
    except (HraError, MemoryError):
        raise
    except Exception as error:  # trimesh raises whatever its parsers stumble over, AssertionError and KeyError included
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise FileError(f"the file cannot be read as {kind.upper()} ({reason[:200]})", where=str(file)) from error


def _read_bare(content: bytes, kind: str) -> Parsed:
    """STL and OFF, of which positions and triangles are read."""
    import trimesh

    mesh = trimesh.load_mesh(io.BytesIO(content), file_type=kind, process=False)
    polygons = 0
    if kind == "off":
        counts = _OFF_COUNTS.match(content)
        polygons = len(mesh.faces) - int(counts.group(1)) if counts else 0
    vertices, faces = np.asarray(mesh.vertices), np.asarray(mesh.faces)
    return Parsed(vertices, faces, polygons=polygons, shares_vertices=kind != "stl")
