"""Arrays into a `TriangleMesh`: refused where they cannot be a mesh, repaired with a warning where they can."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from hra.arrays import frozen, to_numpy
from hra.domains.meshes import meshopt
from hra.domains.meshes.edges import inconsistent_edges
from hra.domains.meshes.triangle_mesh import TriangleMesh, check_positions, check_triangles, referenced_only
from hra.domains.meshes.weld import weld, without_degenerate
from hra.errors import MeshError, RepairWarning


def from_arrays(positions: Any, triangles: Any, *, where: str = "arrays", warn_duplicates: bool = True) -> TriangleMesh:
    """A mesh from arrays, copied, with vertices at equal positions merged.

    Parameters
    ----------
    positions : [V, 3] finite numbers, kept as float32.
    triangles : int [F, 3], vertex numbers below V.
    where : names the source in errors and warnings.
    warn_duplicates : whether merged vertices are worth a warning (not for formats that cannot share vertices).

    Raises
    ------
    MeshError : wrong shape or type, no triangle, a coordinate that is not finite in float32, an index out of range.

    Warns
    -----
    RepairWarning : merged vertices, dropped faces or vertices, zero-area faces and inconsistent winding, each counted.
    """
    points, faces = to_numpy(positions), to_numpy(triangles)
    check_positions(points, where)
    check_triangles(faces, len(points), where)
    points = np.ascontiguousarray(points, np.float32)
    welded, corners = weld(points, faces)
    if warn_duplicates:
        _report(len(points) - len(welded), "vertices at the position of another one were merged", where)
    kept = _drop_degenerate(corners, where)
    kept = _drop_duplicates(kept, where)
    mesh = referenced_only(welded, kept)
    _report(len(welded) - len(mesh.positions), "vertices without a face were dropped", where)
    _report(_zero_area(mesh), "faces have no area and were kept, since dropping them would open the surface", where)
    _report(inconsistent_edges(mesh.triangles), "edges join two faces of opposite winding", where)
    return TriangleMesh(frozen(mesh.positions), frozen(mesh.triangles))


def _drop_degenerate(corners: np.ndarray, where: str) -> np.ndarray:
    kept = without_degenerate(corners)
    _report(len(corners) - len(kept), "faces with two equal corners (zero area) were dropped", where)
    if not len(kept):
        raise MeshError("every triangle of the mesh has two equal corners", where=where)
    return kept


def _drop_duplicates(corners: np.ndarray, where: str) -> np.ndarray:
    """Without repetitions of a face; the same corners with the opposite winding are another face (two-sided sheets)."""
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
        warnings.warn(f"{where}: {count} {what}", RepairWarning, stacklevel=3)
