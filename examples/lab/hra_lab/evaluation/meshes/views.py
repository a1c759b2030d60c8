"""Depth and normals of a mesh as a camera sees them, drawn with OpenGL."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.camera import Camera
from hra.domains.meshes import TriangleMesh
from hra.kernels import raster


@dataclass(frozen=True, eq=False)
class Rendering:
    """What a camera sees of a mesh.

    Attributes
    ----------
    covered : bool [H, W], where there is a surface.
    depth : float64 [H, W], distance along the view direction in object units, 0 where there is none.
    normal : float32 [H, W, 3], unit normal of the visible triangle, 0 where there is none.
    window : float32 [H, W], the depth buffer itself.
    """

    covered: np.ndarray
    depth: np.ndarray
    normal: np.ndarray
    window: np.ndarray


def draw(context: raster.Context, mesh: TriangleMesh, camera: Camera) -> Rendering:
    """One view; the camera must be a perspective one with reversed depth, whose float depth resolves all distances."""
    draws = raster.DrawList(context, mesh.positions, mesh.triangles)
    buffer = raster.VisibilityBuffer(context, camera.viewport, reversed_depth=True)
    buffer.draw(draws, camera.projection @ camera.view)
    image = buffer.read()
    for resource in (draws, buffer):
        resource.release()
    covered = image.triangles != raster.EMPTY
    depth, normal = np.zeros(covered.shape), np.zeros((*covered.shape, 3), np.float32)
    # With an infinite far plane reversed depth is near / distance.
    depth[covered] = camera.near / image.depth[covered].astype(np.float64)
    normal[covered] = _normals(mesh, image.triangles[covered])
    return Rendering(covered, depth, normal, image.depth)


def _normals(mesh: TriangleMesh, triangles: np.ndarray) -> np.ndarray:
    """Unit normals of ``triangles`` (numbers [K]), 0 for those without an area."""
    a, b, c = (mesh.positions[mesh.triangles[triangles, corner]].astype(np.float64) for corner in range(3))
    normal = np.cross(b - a, c - a)
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    return (normal / np.where(length > 0, length, 1.0)).astype(np.float32)
