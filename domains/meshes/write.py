"""Mesh files out: written beside the target and renamed, so that a reader never sees half a file."""

from __future__ import annotations

from pathlib import Path

from hra.atomic_write import write_atomically
from hra.domains.meshes.triangle_mesh import TriangleMesh
from hra.errors import FileError, MissingExtra

SUFFIXES = (".glb", ".obj", ".off", ".ply", ".stl")


def export(mesh: TriangleMesh, path: str | Path) -> None:
    """Write ``mesh`` as GLB, OBJ, OFF, PLY or STL, by the suffix of ``path``.

    Raises
    ------
    FileError : unknown suffix, or the file cannot be written.
    MissingExtra : trimesh is not installed.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise FileError(f"the format {suffix!r} is not written", where=str(path), fix=f"use {', '.join(SUFFIXES)}")
    try:
        import trimesh
    except ImportError as error:
        raise MissingExtra.of("trimesh", "meshes") from error
    geometry = trimesh.Trimesh(mesh.positions, mesh.triangles, process=False)
    content = geometry.export(file_type=suffix[1:])
    write_atomically(path, content.encode() if isinstance(content, str) else bytes(content))
