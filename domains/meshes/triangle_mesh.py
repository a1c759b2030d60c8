"""An indexed triangle mesh: what is loaded, built from, and realised."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hra.errors import MeshError

# Index buffers stay below 2**31 entries, the limit of meshoptimizer and of many graphics interfaces.
MAX_TRIANGLES = (2**31 - 1) // 3


@dataclass(frozen=True, eq=False)
class TriangleMesh:
    """Triangles over shared vertices. `load` and `from_arrays` make one from unchecked data and repair it.

    Attributes
    ----------
    positions : float32 [V, 3], object units.
    triangles : uint32 [F, 3], vertex numbers, counter-clockwise from outside.

    Raises
    ------
    MeshError : wrong shape or type, no triangle, a coordinate that is not finite, a vertex number out of range.
    """

    positions: np.ndarray
    triangles: np.ndarray

    def __post_init__(self) -> None:
        check_positions(self.positions, "positions")
        check_triangles(self.triangles, len(self.positions), "triangles")
        if self.positions.dtype != np.float32 or self.triangles.dtype != np.uint32:
            found = f"{self.positions.dtype} and {self.triangles.dtype}"
            fix = "use meshes.from_arrays, which converts"
            raise MeshError(
                f"positions must be float32 and triangles uint32, got {found}", where="TriangleMesh", fix=fix
            )

    def __repr__(self) -> str:
        return f"TriangleMesh({len(self.triangles)} triangles, {len(self.positions)} vertices)"

    @property
    def bounds(self) -> np.ndarray:
        """Smallest and largest coordinates, float32 [2, 3]."""
        return np.stack([self.positions.min(axis=0), self.positions.max(axis=0)])

    def export(self, path: str | Path) -> None:
        """Write the mesh as GLB, PLY, STL, OFF or OBJ, by the file's suffix.

        Raises
        ------
        FileError : unknown suffix, or the file cannot be written.
        """
        from hra.domains.meshes.write import export

        export(self, path)


def referenced_only(positions: np.ndarray, triangles: np.ndarray) -> TriangleMesh:
    """The mesh of ``triangles`` with the vertices that none of them uses left out, in their order."""
    used = np.zeros(len(positions), bool)
    used[triangles] = True
    number = np.cumsum(used, dtype=np.int64) - 1
    return TriangleMesh(positions[used], number[triangles].astype(np.uint32))


def check_positions(positions: np.ndarray, where: str) -> None:
    """Raise MeshError unless ``positions`` are numbers [V, 3] that are finite in float32."""
    if positions.ndim != 2 or positions.shape[1] != 3 or positions.dtype.kind not in "iuf":
        raise MeshError(f"positions must be numbers [V, 3], got {positions.dtype} {positions.shape}", where=where)
    limit = np.finfo(np.float32).max
    bad = np.flatnonzero(~((positions >= -limit) & (positions <= limit)).all(axis=1))
    if bad.size:
        raise MeshError(
            f"vertex {bad[0]} is not finite in float32: {positions[bad[0]].tolist()}",
            where=f"{where}, vertex {bad[0]} (and {bad.size - 1} more)",
            fix="remove the vertex and its faces, or export the mesh again",
        )


def check_triangles(triangles: np.ndarray, vertex_count: int, where: str) -> None:
    """Raise MeshError unless ``triangles`` are integers [F, 3] below ``vertex_count``, with F > 0."""
    if triangles.size == 0:
        raise MeshError("the mesh has no triangles", where=where, fix="point clouds and curves cannot be simplified")
    if triangles.ndim != 2 or triangles.shape[1] != 3 or triangles.dtype.kind not in "iu":
        raise MeshError(f"triangles must be integers [F, 3], got {triangles.dtype} {triangles.shape}", where=where)
    if max(len(triangles), vertex_count) > MAX_TRIANGLES:
        raise MeshError(f"{len(triangles)} triangles and {vertex_count} vertices are too many", where=where)
    if triangles.min() >= 0 and triangles.max() < vertex_count:
        return
    bad = np.flatnonzero(((triangles < 0) | (triangles >= vertex_count)).any(axis=1))
    raise MeshError(
        f"triangle {bad[0]} refers to vertices {triangles[bad[0]].tolist()}, but there are {vertex_count}",
        where=f"{where}, triangle {bad[0]} (and {bad.size - 1} more)",
        fix="export the mesh again",
    )
