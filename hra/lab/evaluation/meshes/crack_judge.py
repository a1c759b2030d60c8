"""Cracks seen in a frame: pixels that look at the inside of a closed mesh from its outside."""

from __future__ import annotations

import numpy as np

from hra.camera import Camera
from hra.domains import meshes
from hra.kernels.raster import EMPTY


def pixels_inside(
    mesh: meshes.ClusterMesh, renderer: meshes.Renderer, camera: Camera, cut: np.ndarray
) -> tuple[int, int]:
    """Pixels of the last frame that show the back of a triangle of a closed mesh, whose eye is outside.

    At silhouettes a front and a back meet in one edge, and which of them a pixel shows is a matter of rounding, of
    depths and of vertices to parts of a pixel. Hence the ray of each such pixel is cast in float64 against all of the
    cut's triangles; it shows the inside if the first triangle that it meets faces away.

    Parameters
    ----------
    mesh : consistently oriented and closed, drawn once, where it is.
    camera, cut : of the frame.

    Returns
    -------
    How many show the inside, and how many were cast.
    """
    seen = renderer.visible()
    rows, columns = np.nonzero(seen.clusters != EMPTY)
    there = seen.clusters[rows, columns]
    triangles = mesh.offsets[there] // 3 + seen.triangles[rows, columns]
    backs = np.flatnonzero(_towards(mesh, triangles, camera) < 0)
    corners = mesh.positions[mesh.triangles(cut)].astype(np.float64)
    inside = [_first_is_back(corners, *_ray(camera, rows[k], columns[k])) for k in backs.tolist()]
    return sum(inside), len(backs)


def _towards(mesh: meshes.ClusterMesh, triangles: np.ndarray, camera: Camera) -> np.ndarray:
    corners = mesh.positions[mesh.indices.reshape(-1, 3)[triangles]].astype(np.float64)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return np.einsum("ij,ij->i", normal, camera.position - corners[:, 0])


def _ray(camera: Camera, row: int, column: int) -> tuple[np.ndarray, np.ndarray]:
    """Eye and direction of a pixel's centre, of a perspective camera."""
    width, height = camera.viewport
    place = 2 * (column + 0.5) / width - 1, 1 - 2 * (row + 0.5) / height
    projection = camera.projection
    direction = [(place[k] + projection[k, 2]) / projection[k, k] for k in range(2)]
    turned = np.linalg.inv(camera.view[:3, :3]) @ np.array([*direction, -1.0])
    return camera.position, turned


def _first_is_back(corners: np.ndarray, eye: np.ndarray, way: np.ndarray) -> bool:
    """Whether the first of the triangles [T, 3, 3] that a ray meets faces away (Moeller and Trumbore 1997)."""
    edge, other = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    across = np.cross(way, other)
    volume = np.einsum("ij,ij->i", edge, across)
    with np.errstate(divide="ignore", invalid="ignore"):
        start = eye - corners[:, 0]
        u = np.einsum("ij,ij->i", start, across) / volume
        turned = np.cross(start, edge)
        v = turned @ way / volume
        distance = np.einsum("ij,ij->i", other, turned) / volume
    hit = (u >= 0) & (v >= 0) & (u + v <= 1) & (distance > 0)
    if not hit.any():
        return False
    first = np.where(hit, distance, np.inf).argmin()
    return bool(volume[first] < 0)
