"""An indexed triangle mesh: what is loaded, built from, and realised."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from hra.domains.meshes.building.weld import first_at_position
from hra.domains.meshes.mesh.attributes import VertexAttributes
from hra.errors import MeshError
from hra.model.arrays import ReadOnlyArrays

# Index buffers stay below 2**31 entries, the limit of meshoptimizer and of many graphics interfaces.
MAX_TRIANGLES = (2**31 - 1) // 3


@dataclass(frozen=True, eq=False)
class TriangleMesh(ReadOnlyArrays):
    """Triangles over shared vertices. `load` and `from_arrays` make one from unchecked data and repair it.

    Attributes
    ----------
    positions : float32 [V, 3], object units.
    triangles : uint32 [F, 3], vertex numbers, counter-clockwise from outside.
    attributes : texture coordinates, normals, colours and materials of the V vertices, or None. Vertices at a seam
        are doubled: the same position, other attributes.

    Raises
    ------
    MeshError : wrong shape or type, no triangle, a coordinate that is not finite, a vertex number out of range,
        attributes of another number of vertices, or a triangle of several materials.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import meshes
    >>> mesh = meshes.TriangleMesh(np.eye(3, dtype=np.float32), np.array([[0, 1, 2]], np.uint32))
    >>> mesh, mesh.bounds.tolist()
    (TriangleMesh(1 triangles, 3 vertices), [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    """

    positions: np.ndarray
    triangles: np.ndarray
    attributes: VertexAttributes | None = None

    def __post_init__(self) -> None:
        check_positions(self.positions, "positions")
        check_triangles(self.triangles, len(self.positions), "triangles")
        if self.positions.dtype != np.float32 or self.triangles.dtype != np.uint32:
            found = f"{self.positions.dtype} and {self.triangles.dtype}"
            fix = "use meshes.from_arrays, which converts"
            raise MeshError(
                f"positions must be float32 and triangles uint32, got {found}", where="TriangleMesh", fix=fix
            )
        if self.attributes is not None:
            check_attributes(self.attributes, self.triangles, len(self.positions), "TriangleMesh")

    def __repr__(self) -> str:
        carried = f", {', '.join(self.attributes.names)}" if self.attributes is not None else ""
        return f"TriangleMesh({len(self.triangles)} triangles, {len(self.positions)} vertices{carried})"

    def _repr_png_(self) -> bytes | None:
        from hra.domains.meshes.viewer.portrait import portrait

        return portrait(self)

    @cached_property
    def position_of(self) -> np.ndarray:
        """The first vertex at the position of each, uint32 [V]: surfaces join by position, seams do not open them."""
        return first_at_position(self.positions)

    @property
    def bounds(self) -> np.ndarray:
        """Smallest and largest coordinates, float32 [2, 3]."""
        return np.stack([self.positions.min(axis=0), self.positions.max(axis=0)])

    def with_normals(self) -> TriangleMesh:
        """The mesh with normals, those of its surface where it has none: smooth, but for edges of 75 degrees and more.

        Programs shade meshes without normals flat. At edges vertices are doubled.
        """
        from hra.domains.meshes.building.vertex_normals import with_normals

        return with_normals(self)

    def export(self, path: str | Path) -> None:
        """Write the mesh as GLB, PLY, STL, OFF or OBJ, by the file's suffix; see `hra.domains.meshes.files.write`.

        Raises
        ------
        FileError : unknown suffix, or the file cannot be written.
        """
        from hra.domains.meshes.files.write import export

        export(self, path)


def referenced_only(
    positions: np.ndarray, triangles: np.ndarray, attributes: VertexAttributes | None = None
) -> TriangleMesh:
    """The mesh of ``triangles`` with the vertices that none of them uses left out, in their order."""
    used = np.zeros(len(positions), bool)
    used[triangles] = True
    number = np.cumsum(used, dtype=np.int64) - 1
    kept = None if attributes is None else attributes.take(used)
    return TriangleMesh(positions[used], number[triangles].astype(np.uint32), kept)


def check_positions(positions: np.ndarray, where: str) -> None:
    """Raise MeshError unless ``positions`` are numbers [V, 3] that are finite in float32."""
    if isinstance(positions, np.ma.MaskedArray):
        raise MeshError("positions are a masked array", where=where, fix="use meshes.from_arrays, which converts")
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


def check_attributes(attributes: VertexAttributes, triangles: np.ndarray, vertex_count: int, where: str) -> None:
    """Raise MeshError unless ``attributes`` are of ``vertex_count`` vertices and give each triangle one material."""
    if len(attributes) != vertex_count:
        raise MeshError(
            f"there are attributes of {len(attributes)} vertices, but {vertex_count} positions", where=where
        )
    if attributes.material is None or len(attributes.materials) < 2:
        return
    a, b, c = attributes.material[triangles].T
    bad = np.flatnonzero((a != b) | (b != c))
    if bad.size:
        raise MeshError(
            f"the corners of triangle {bad[0]} have materials {attributes.material[triangles[bad[0]]].tolist()}",
            where=f"{where}, triangle {bad[0]} (and {bad.size - 1} more)",
            fix="double the vertices at borders between materials",
        )
