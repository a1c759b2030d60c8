"""The meshes of the suite, each made or read once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hra.domains import meshes
from hra_lab.inputs.mesh_sources import bumpy, with_normals


@dataclass(frozen=True)
class Input:
    """A displaced sphere, or a mesh file.

    Attributes
    ----------
    source : the sphere's number of subdivisions, or the file.
    normals : whether vertices carry normals, which simplification then keeps.
    certified : whether the build bounds its distance from the source, which the peers do not.
    """

    source: int | Path
    normals: bool = False
    certified: bool = False

    def mesh(self) -> meshes.TriangleMesh:
        """The mesh, which is kept for the next row.

        Raises
        ------
        FileError : the file is not there.
        """
        return _mesh(self.source, self.normals)

    def build(self, mesh: meshes.TriangleMesh) -> meshes.ClusterMesh:
        """Its clusters, on as many threads as there are processors."""
        return meshes.build(mesh, certified=self.certified)


@cache
def _mesh(source: int | Path, normals: bool) -> meshes.TriangleMesh:
    mesh = bumpy(source) if isinstance(source, int) else meshes.load(source)
    return with_normals(mesh) if normals else mesh


@cache
def clusters(given: Input) -> meshes.ClusterMesh:
    """The clusters of an input, built once for all rows that cut them."""
    return given.build(given.mesh())
