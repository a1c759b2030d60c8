"""Normals of the surface for vertices that have none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from hra.domains.meshes.triangle_mesh import TriangleMesh


def completed_normals(mesh: TriangleMesh) -> np.ndarray:
    """The mesh's normals with those of length 0 replaced, of unit length, float32 [V, 3].

    A vertex without a normal gets the mean of its triangles' normals by area, or the z axis if they have none.
    """
    given = mesh.attributes.normals if mesh.attributes is not None else None
    normals = np.zeros((len(mesh.positions), 3), np.float32) if given is None else given
    given_one = np.any(normals, axis=1, keepdims=True)
    return normals if given_one.all() else np.where(given_one, normals, surface_normals(mesh))


def surface_normals(mesh: TriangleMesh) -> np.ndarray:
    """The mean of the triangles' normals at each vertex by area, float32 [V, 3]; the z axis where they cancel."""
    corners = mesh.positions[mesh.triangles].astype(np.float64)
    weighted = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    count = len(mesh.positions)
    total = np.stack(
        [np.bincount(mesh.triangles.reshape(-1), np.repeat(weighted[:, axis], 3), count) for axis in range(3)], axis=1
    )
    length = np.linalg.norm(total, axis=1, keepdims=True)
    up = np.broadcast_to([0.0, 0.0, 1.0], total.shape)
    return np.divide(total, length, out=up.copy(), where=length > 0).astype(np.float32)
