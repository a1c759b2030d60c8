"""Mesh files in: read by trimesh, checked before and after, because trimesh alone lets many broken files pass."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hra.domains.meshes.obj_indices import refuse_zero, with_absolute_indices
from hra.domains.meshes.precheck import precheck
from hra.domains.meshes.resolver import SiblingFiles
from hra.domains.meshes.triangle_mesh import TriangleMesh
from hra.domains.meshes.validate import from_arrays
from hra.errors import FileError, HraError, MissingExtra

if TYPE_CHECKING:
    import trimesh

SUFFIXES = (".glb", ".gltf", ".obj", ".off", ".ply", ".stl")
# A larger file would not fit into memory several times over, which parsing takes.
MAX_FILE_BYTES = 4 * 2**30


def load(path: str | Path) -> TriangleMesh:
    """Read a mesh file (GLB, glTF, OBJ, OFF, PLY, STL); scenes are joined into one mesh, polygons triangulated.

    Nothing is fetched: network addresses are refused, and a glTF may only name files in its own folder. Materials and
    texture coordinates are left out.

    Raises
    ------
    FileError : missing, unreadable, too large, of another format, truncated or otherwise malformed.
    MeshError : no triangles, a coordinate that is not finite, an index out of range.
    MissingExtra : trimesh or meshoptimizer is not installed.

    Warns
    -----
    RepairWarning : see `from_arrays`.
    """
    file = checked_file(path, SUFFIXES)
    mesh = _parse(_content(file), file)
    positions, triangles = np.asarray(mesh.vertices), np.asarray(mesh.faces)
    # STL cannot share vertices, so merging them there repairs nothing.
    return from_arrays(positions, triangles, where=str(path), warn_duplicates=file.suffix.lower() != ".stl")


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
    """The checked bytes of a mesh file, with what trimesh reads wrongly put right."""
    kind = file.suffix.lower()[1:]
    try:
        data = file.read_bytes()
    except OSError as error:
        raise FileError(f"the file cannot be read: {error.strerror}", where=str(file)) from error
    precheck(data, kind, str(file))
    if kind == "obj":
        data = with_absolute_indices(data)
        refuse_zero(data, str(file))
    return data


def _parse(content: bytes, file: Path) -> trimesh.Trimesh:
    try:
        import trimesh
    except ImportError as error:
        raise MissingExtra.of("trimesh", "meshes") from error
    kind = file.suffix.lower()[1:]
    options: dict[str, Any] = {"skip_materials": True} if kind in ("glb", "gltf", "obj") else {}
    try:
        # Bytes instead of a path: trimesh then has no folder of its own to look around in.
        resolver = SiblingFiles(file.parent)
        return trimesh.load_mesh(io.BytesIO(content), file_type=kind, resolver=resolver, process=False, **options)
    except (HraError, MemoryError):
        raise
    except Exception as error:  # trimesh raises whatever its parsers stumble over, AssertionError and KeyError included
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise FileError(f"the file cannot be read as {kind.upper()} ({reason[:200]})", where=str(file)) from error
