"""Mesh files out: written beside the target and renamed, so that a reader never sees half a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hra.domains.meshes.files.write_glb import glb_bytes
from hra.errors import FileError, MissingExtra
from hra.safety.atomic_write import write_atomically

if TYPE_CHECKING:
    from hra.domains.meshes.triangle_mesh import TriangleMesh

SUFFIXES = (".glb", ".obj", ".off", ".ply", ".stl")
# What the formats hold of a mesh's attributes.
_CARRIED = {".glb": ("uv", "normals", "colors", "material"), ".ply": ("normals", "colors")}


def export(mesh: TriangleMesh, path: str | Path) -> None:
    """Write ``mesh`` as GLB, OBJ, OFF, PLY or STL, by the suffix of ``path``.

    GLB takes all attributes, PLY normals and vertex colours. The others take none, and none of them a material.

    Raises
    ------
    FileError : unknown suffix, or the file cannot be written.
    MissingExtra : trimesh is not installed (GLB needs none).
    """
    write_atomically(path, encode(mesh, Path(path).suffix, str(path)))


def encode(mesh: TriangleMesh, suffix: str, where: str = "") -> bytes:
    """The file that `export` writes for ``suffix``.

    Raises
    ------
    FileError : unknown suffix.
    MissingExtra : trimesh is not installed (GLB needs none).
    """
    kind = suffix.lower()
    if kind not in SUFFIXES:
        raise FileError(f"the format {suffix!r} is not written", where=where, fix=f"use {', '.join(SUFFIXES)}")
    return glb_bytes(mesh) if kind == ".glb" else _by_trimesh(mesh, kind[1:])


def holds_normals(suffix: str) -> bool:
    """Whether files of this format hold normals."""
    return "normals" in _CARRIED.get(suffix.lower(), ())


def left_out(attributes: Sequence[str], suffix: str) -> list[str]:
    """Which of a mesh's ``attributes``, by their names in `VertexAttributes`, files of this format do not hold."""
    return [name for name in attributes if name not in _CARRIED.get(suffix.lower(), ())]


def _by_trimesh(mesh: TriangleMesh, kind: str) -> bytes:
    try:
        import trimesh
    except ImportError as error:
        raise MissingExtra.of("trimesh", "formats") from error
    carried: dict[str, Any] = {}
    if kind == "ply" and mesh.attributes is not None:
        carried = {"vertex_normals": mesh.attributes.normals, "vertex_colors": mesh.attributes.colors}
    geometry = trimesh.Trimesh(mesh.positions, mesh.triangles, process=False, **carried)
    content = geometry.export(file_type=kind)
    return content.encode() if isinstance(content, str) else bytes(content)
