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
    signs = _signs_behind_backs(mesh, renderer, camera, cut)
    return sum(bool(len(sign)) and bool(sign[0] < 0) for sign in signs), len(signs)


def pixels_open(mesh: meshes.ClusterMesh, renderer: meshes.Renderer, camera: Camera, cut: np.ndarray) -> int:
    """Pixels of the last frame that look through a hole of a closed mesh: their ray leaves it oftener than it enters.

    Coarse surfaces of thin walls pass through each other, so that the inside shows though nothing is open: such rays
    leave a closed mesh as often as they enter it. Parameters as in `pixels_inside`.
    """
    return sum(int(sign.sum()) != 0 for sign in _signs_behind_backs(mesh, renderer, camera, cut))


def _signs_behind_backs(
    mesh: meshes.ClusterMesh, renderer: meshes.Renderer, camera: Camera, cut: np.ndarray
) -> list[np.ndarray]:
    """How triangles along the ray of each pixel that shows a back face, near to far: 1 for fronts, -1 for backs."""
    seen = renderer.visible()
    rows, columns = np.nonzero(seen.clusters != EMPTY)
    there = seen.clusters[rows, columns]
    triangles = mesh.offsets[there] // 3 + seen.triangles[rows, columns]
    backs = np.flatnonzero(_towards(mesh, triangles, camera) < 0)
    corners = mesh.positions[mesh.triangles(cut)].astype(np.float64)
    return [_signs_along(corners, *_ray(camera, rows[k], columns[k])) for k in backs.tolist()]


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


def _signs_along(corners: np.ndarray, eye: np.ndarray, way: np.ndarray) -> np.ndarray:
    """How the triangles [T, 3, 3] that a ray meets face, near to far: 1 towards the eye (Moeller and Trumbore 1997)."""
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
    found = np.flatnonzero(hit)
    return np.sign(volume[found[np.argsort(distance[found])]]).astype(np.int64)
