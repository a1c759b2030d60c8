"""Ray casting of textured planes: the texel and the wanted mip level behind every pixel, or every few pixels."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hra.camera import Camera
from hra.camera.matrices import VIEWPORT_SIDE
from hra.compiling import njit
from hra.domains.textures.views.scene import PlaneScene, TexturedPlane, check_scene
from hra.errors import CameraError, check_kind
from hra.model.arrays import whole_in

# Pixels along one side of a cell.
STRIDES = range(1, VIEWPORT_SIDE + 1)


@dataclass(frozen=True, eq=False)
class Hits:
    """What the rays through the centres of the screen's cells hit first.

    Attributes
    ----------
    plane : int32 [rows, columns], index of the plane, -1 where the ray hits none.
    x, y : float64 [rows, columns], position in texels of level 0 (texel k spans k to k + 1).
    footprint : float32 [rows, columns], texels of level 0 across one pixel along its longer axis, at least 1.
    row, column : float32 [rows], [columns], centres of the cells in pixels from the upper left.
    row_pixels, column_pixels : float32 [rows], [columns], height and width of the cells in pixels.
    """

    plane: np.ndarray
    x: np.ndarray
    y: np.ndarray
    footprint: np.ndarray
    row: np.ndarray
    column: np.ndarray
    row_pixels: np.ndarray
    column_pixels: np.ndarray


def cast_rays(scene: PlaneScene, camera: Camera, stride: int = 1) -> Hits:
    """The first hit of one ray per cell of ``stride`` x ``stride`` pixels, row 0 at the top.

    The footprint is the larger of the two screen axes' derivatives (OpenGL 4.6, section 8.14.1).

    Raises
    ------
    CameraError : ``stride`` is not a whole number of pixels from 1 on.
    HraError : something else in the place of the scene or the camera.
    """
    check_scene(scene)
    check_kind("camera", camera, Camera, "make one by hra.Camera.perspective or orbit")
    stride = whole_in("stride", stride, STRIDES, CameraError)
    width, height = camera.viewport
    columns, column_pixels = _cells(width, stride)
    rows, row_pixels = _cells(height, stride)
    shape = (rows.size, columns.size)
    plane, depth = np.full(shape, -1, np.int32), np.full(shape, -np.inf)
    x, y, footprint = np.zeros(shape), np.zeros(shape), np.ones(shape, np.float32)
    ndc_x, ndc_y = 2 * columns / width - 1, 1 - 2 * rows / height
    for index, candidate in enumerate(scene.planes):
        screen = screen_to_plane(candidate, camera)
        if screen is not None:
            size = candidate.texture.mips[0].shape[:2]
            pixels, hits = (ndc_x, ndc_y, 2 / width, 2 / height), (plane, depth, x, y, footprint)
            _cast_plane(index, *screen, size, pixels, hits)
    centres = rows.astype(np.float32), columns.astype(np.float32)
    return Hits(plane, x, y, footprint, *centres, row_pixels, column_pixels)


def _cells(size: int, stride: int) -> tuple[np.ndarray, np.ndarray]:
    """Centres and lengths in pixels of the cells along one axis; the last cell may be shorter."""
    edges = np.append(np.arange(0, size, stride), size)
    return (edges[:-1] + edges[1:]) / 2, np.diff(edges).astype(np.float32)


def screen_to_plane(plane: TexturedPlane, camera: Camera) -> tuple[np.ndarray, np.ndarray] | None:
    """The homography [3, 3] from device coordinates (x, y, 1) to (texel x, texel y, 1) / w, and the row [3] of depth.

    The row times (texel x, texel y, 1) / w is 1 at the near and 0 at the far plane (reversed depth). None if the plane
    is seen edge-on.
    """
    rows, columns = plane.texture.mips[0].shape[:2]
    texels = plane.frame / np.array([columns, rows, 1.0])
    clip = camera.projection @ camera.view @ texels
    to_screen = clip[[0, 1, 3]]
    # Relative to its columns' lengths, a determinant near zero means edge-on whatever the world's units are.
    if abs(np.linalg.det(to_screen)) <= 1e-12 * np.linalg.norm(to_screen, axis=0).prod():
        return None
    reversed_depth = clip[2] if camera.reversed_depth else (clip[3] - clip[2]) / 2
    return np.linalg.inv(to_screen), reversed_depth


@njit(cache=True)
def footprint_at(inverse, s, t, q, step_x, step_y):
    """Texels across one pixel at texel (s, t), q being 1 / w there and the steps those of a pixel in the device."""
    across = math.hypot(inverse[0, 0] - s * inverse[2, 0], inverse[1, 0] - t * inverse[2, 0]) * step_x
    down = math.hypot(inverse[0, 1] - s * inverse[2, 1], inverse[1, 1] - t * inverse[2, 1]) * step_y
    return max(1.0, max(across, down) / q)


@njit(cache=True)
def _cast_plane(index, inverse, depth_row, size, pixels, hits):
    """Enter the plane ``index`` where it is nearer than what ``depth`` holds (1 is the near plane)."""
    (height, width), (ndc_x, ndc_y, step_x, step_y), (plane, depth, x, y, footprint) = size, pixels, hits
    for r in range(ndc_y.size):
        # The homogeneous texel position at the row's start; q, the reciprocal of clip w, is negative behind the eye.
        row_x = inverse[0, 1] * ndc_y[r] + inverse[0, 2]
        row_y = inverse[1, 1] * ndc_y[r] + inverse[1, 2]
        row_q = inverse[2, 1] * ndc_y[r] + inverse[2, 2]
        for c in range(ndc_x.size):
            q = row_q + inverse[2, 0] * ndc_x[c]
            if q <= 0:
                continue
            s = (row_x + inverse[0, 0] * ndc_x[c]) / q
            t = (row_y + inverse[1, 0] * ndc_x[c]) / q
            if not (0 <= s < width and 0 <= t < height):
                continue
            z = (depth_row[0] * s + depth_row[1] * t + depth_row[2]) * q
            if not (0 <= z <= 1 and z > depth[r, c]):
                continue
            plane[r, c], depth[r, c], x[r, c], y[r, c] = index, z, s, t
            footprint[r, c] = footprint_at(inverse, s, t, q, step_x, step_y)
