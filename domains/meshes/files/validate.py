"""Arrays into a `TriangleMesh`: refused where they cannot be a mesh, repaired with a warning where they can."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.domains.meshes.distances.surface import inconsistent_edges
from hra.domains.meshes.mesh import meshopt
from hra.domains.meshes.mesh.attributes import VertexAttributes
from hra.domains.meshes.mesh.triangle_mesh import (
    TriangleMesh,
    check_attributes,
    check_positions,
    check_triangles,
    referenced_only,
)
from hra.domains.meshes.mesh.weld import first_at_position, weld_wedges, without_degenerate
from hra.errors import MeshError, warn
from hra.files.ply import split_origin
from hra.model.arrays import frozen, to_numpy


def from_arrays(
    positions: Any,
    triangles: Any,
    attributes: VertexAttributes | None = None,
    *,
    repair: bool = False,
    where: str = "arrays",
    warn_duplicates: bool = True,
) -> TriangleMesh:
    """A mesh from arrays, copied, with equal vertices merged (equal in position and in all attributes).

    Parameters
    ----------
    positions : [V, 3] finite numbers, kept as float32; doubles that these would round by much, such as coordinates of
        maps, relative to an origin, see `TriangleMesh`.
    triangles : int [F, 3], vertex numbers below V.
    attributes : of the V vertices.
    repair : drop faces with a vertex that is not finite, instead of refusing the mesh.
    where : names the source in errors and warnings.
    warn_duplicates : whether merged vertices are worth a warning (not for formats that cannot share vertices).

    Raises
    ------
    MeshError : wrong shape or type, no triangle, a coordinate that is not finite in float32, an index out of range,
        attributes of another number of vertices or several materials in one triangle.

    Warns
    -----
    RepairWarning : merged vertices, dropped faces or vertices, zero-area faces and inconsistent winding, each counted.

    Examples
    --------
    >>> from hra.domains import meshes
    >>> meshes.from_arrays([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    TriangleMesh(1 triangles, 3 vertices)
    """
    points, faces = to_numpy(positions), to_numpy(triangles)
    if repair:
        points, faces = _drop_infinite(points, faces, where)
    check_positions(points, where)
    check_triangles(faces, len(points), where)
    if attributes is not None:
        check_attributes(attributes, faces, len(points), where)
    used = np.zeros(len(points), bool)
    used[faces] = True  # vertices without a face are dropped below, and may lie anywhere
    points, origin = split_origin(points, None if used.all() else points[used])
    points = np.ascontiguousarray(points, np.float32)
    welded, corners, attributes = weld_wedges(points, faces, attributes)
    position_of = None if attributes is None else first_at_position(welded)
    if warn_duplicates:
        same = "at the position of another one" if attributes is None else "equal to another one"
        _report(len(points) - len(welded), f"vertices {same} were merged", where)
    kept = _drop_degenerate(corners, position_of, where)
    kept = _drop_duplicates(kept, where)
    mesh = referenced_only(welded, kept, attributes, origin)
    _report(len(welded) - len(mesh.positions), "vertices without a face were dropped", where)
    _report(_zero_area(mesh), "faces have no area and were kept, since dropping them would open the surface", where)
    joined = mesh.triangles if attributes is None else mesh.position_of[mesh.triangles]
    _report(inconsistent_edges(joined), "edges join two faces of opposite winding", where)
    for array in (mesh.positions, mesh.triangles):
        frozen(array)
    return mesh


def _drop_infinite(points: np.ndarray, faces: np.ndarray, where: str) -> tuple[np.ndarray, np.ndarray]:
    """Drop faces with a corner that is not finite in float32; such corners are moved to the origin."""
    if points.ndim != 2 or points.dtype.kind != "f":
        return points, faces
    check_triangles(faces, len(points), where)
    finite = np.all(np.abs(points) <= np.finfo(np.float32).max, axis=1, keepdims=True)
    kept = faces[finite[faces, 0].all(axis=1)]
    _report(len(faces) - len(kept), "faces with a vertex that is not finite were dropped", where)
    return np.where(finite, points, 0), kept


def _drop_degenerate(corners: np.ndarray, position_of: np.ndarray | None, where: str) -> np.ndarray:
    kept = without_degenerate(corners, position_of)
    _report(len(corners) - len(kept), "faces with two equal corners (zero area) were dropped", where)
    if not len(kept):
        raise MeshError("all triangles of the mesh have two equal corners", where=where)
    return kept


def _drop_duplicates(corners: np.ndarray, where: str) -> np.ndarray:
    """Drop repeated faces; the same corners with the opposite winding are another face (two-sided sheets)."""
    first = np.argmin(corners, axis=1)[:, None]
    rotated = np.take_along_axis(corners, (first + np.arange(3)) % 3, axis=1)
    number, count = meshopt.unique_rows(rotated)
    _report(len(corners) - count, "duplicate faces were dropped", where)
    return corners if count == len(corners) else corners[np.unique(number, return_index=True)[1]]


def _zero_area(mesh: TriangleMesh) -> int:
    a, b, c = (mesh.positions[mesh.triangles[:, corner]].astype(np.float64) for corner in range(3))
    return int((np.cross(b - a, c - a) == 0).all(axis=1).sum())


def _report(count: int, what: str, where: str) -> None:
    if count:
        warn(f"{where}: {count} {what}")
