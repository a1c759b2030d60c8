"""Mesh files in: what a file promises is checked against its bytes first, and its arrays once they are read."""

from __future__ import annotations

import contextlib
import shlex
import warnings
from collections.abc import Iterator
from pathlib import Path

from hra.domains.meshes.files.parsed import Parsed
from hra.domains.meshes.files.read_gltf import read_gltf
from hra.domains.meshes.files.read_obj import read_obj
from hra.domains.meshes.files.read_off import read_off
from hra.domains.meshes.files.read_ply import read_ply
from hra.domains.meshes.files.read_stl import read_stl
from hra.domains.meshes.files.resolver import SiblingFiles
from hra.domains.meshes.files.validate import from_arrays
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh
from hra.errors import FileError, HraError, MeshError, RepairWarning
from hra.files.limits import DEFAULT, Limits, enough_memory
from hra.files.local_files import local_path, read_regular

_BUILT = (".hra",)
SUFFIXES = (".glb", ".gltf", ".obj", ".off", ".ply", ".stl")


def load(path: str | Path, *, attributes: bool = True, repair: bool = False, limits: Limits = DEFAULT) -> TriangleMesh:
    """Read a mesh file (GLB, glTF, OBJ, OFF, PLY, STL); scenes are joined into one mesh, polygons triangulated.

    Texture coordinates, normals, vertex colours, materials and base-colour images are kept (OFF and STL have none that
    are read). Left out are all other textures, samplers, second sets of coordinates and colours, tangents, material
    extensions, skins, morph targets, cameras and lights.

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
    file = checked_suffix(path, SUFFIXES)
    with enough_memory("the mesh", str(path)):
        parsed = _parse(read_regular(file, limits), file, attributes, limits)
        if parsed.polygons:
            warnings.warn(f"{path}: polygons were triangulated", RepairWarning, stacklevel=2)
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
    if suffixes == _BUILT and file.suffix.lower() in SUFFIXES:
        return f"build it first: hra mesh build {shlex.quote(str(file))} -o {shlex.quote(file.stem)}.hra"
    if file.suffix.lower() in _BUILT:
        return "this mesh is built already: pass it to `hra mesh cut`, `render`, `lods` or meshes.open_asset"
    return f"use {', '.join(suffixes)}"


def _parse(content: bytes, file: Path, attributes: bool, limits: Limits) -> Parsed:
    kind, where = file.suffix.lower()[1:], str(file)
    if not content:
        raise FileError("the file is empty", where=where)
    files = SiblingFiles(file.parent, limits, len(content))
    with _type_values(kind, where):
        if kind in ("glb", "gltf"):
            return read_gltf(content, files, where, attributes=attributes, limits=limits)
        if kind == "obj":
            return read_obj(content, files, where, attributes=attributes, limits=limits)
        if kind == "ply":
            return read_ply(content, files, where, attributes=attributes, limits=limits)
        return (read_stl if kind == "stl" else read_off)(content, where, limits=limits)


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
