"""Meshes to measure on: the shipped skull, a displaced sphere of any size, and what `make data` has fetched."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hra import samples
from hra.domains import meshes
from hra.domains.meshes.mesh.attributes import VertexAttributes
from hra.errors import FileError, needs

DATA = Path("data")
"""Where `make data` puts what it fetches, seen from the repository's root."""

_OCTAVES, _WAVES = 5, 6
_HEIGHT, _FREQUENCY = 0.06, 4.0


def skull() -> meshes.TriangleMesh:
    """The shipped scan of 42,480 triangles."""
    return meshes.load(samples.path("skull.ply"))


def bumpy(subdivisions: int) -> meshes.TriangleMesh:
    """A closed sphere of 20 * 4**subdivisions triangles with waves of five octaves, always the same ones.

    Raises
    ------
    MissingExtra : trimesh is not installed.
    """
    with needs("trimesh", "formats"):
        import trimesh
    sphere = trimesh.creation.icosphere(subdivisions=subdivisions)
    direction = np.asarray(sphere.vertices, np.float64)
    radius, random = np.ones(len(direction)), np.random.default_rng(0)
    for octave in range(_OCTAVES):
        for _ in range(_WAVES):
            wave, phase = random.normal(size=3) * _FREQUENCY * 2**octave, random.uniform(0, 2 * np.pi)
            radius += _HEIGHT / 2**octave * np.sin(direction @ wave + phase)
    return meshes.TriangleMesh(
        (direction * radius[:, None]).astype(np.float32), np.asarray(sphere.faces).astype(np.uint32)
    )


def fetch(name: str, folder: Path = DATA) -> Path:
    """The file ``name`` that `make data` fetched into ``folder``.

    Raises
    ------
    FileError : it is not there.
    """
    file = folder / "meshes" / name
    if not file.is_file():
        raise FileError(
            "the mesh was not fetched", where=str(file), fix="run `make data`, or name its folder by --data"
        )
    return file


def with_normals(mesh: meshes.TriangleMesh) -> meshes.TriangleMesh:
    """The mesh with a unit normal at every vertex, the mean of its triangles' normals weighed by area."""
    corners = mesh.positions[mesh.triangles].astype(np.float64)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = np.stack(
        [
            np.bincount(mesh.triangles.reshape(-1), np.repeat(across[:, axis], 3), len(mesh.positions))
            for axis in range(3)
        ],
        axis=1,
    )
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    unit = (normals / np.where(length > 0, length, 1.0)).astype(np.float32)
    return meshes.TriangleMesh(mesh.positions, mesh.triangles, VertexAttributes(normals=unit))
