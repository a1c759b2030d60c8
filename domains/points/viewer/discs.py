"""Discs by a depth buffer."""

from __future__ import annotations

import numpy as np
from numba import njit

from hra.camera import Camera
from hra.domains.points.point_cloud import PointCloud


def draw_discs(
    cloud: PointCloud, camera: Camera, eye: np.ndarray, depths: np.ndarray, picture: np.ndarray
) -> np.ndarray:
    """Draw every point as a disc that faces the viewer; the depth buffer of what is nearest."""
    seen = camera.project(cloud.positions)
    radius = disc_radii(cloud, camera, eye)
    order = np.flatnonzero(seen.in_front & np.isfinite(radius))
    depth = np.full(picture.shape[:2], 0.0 if camera.reversed_depth else 1.0)
    sign = -1.0 if camera.reversed_depth else 1.0
    _fill(seen.pixels[order], depths[order], radius[order], cloud.colors[order], sign, picture, depth)
    return depth.astype(np.float32)


def disc_radii(cloud: PointCloud, camera: Camera, eye: np.ndarray) -> np.ndarray:
    """Radius of every disc in pixels [P]; ``eye``: positions in eye space."""
    clip = eye @ camera.projection[[3], :3].T + camera.projection[3, 3]
    return cloud.radii * camera.focal_pixels / np.maximum(clip[:, 0], 1e-30)


@njit(cache=True, nogil=True)
def _fill(centers, depths, radii, colors, sign, picture, depth):
    """The pixels whose centres a disc covers, and the one that its own centre lies in."""
    height, width = depth.shape
    for i in range(radii.size):
        x, y, r = centers[i, 0], centers[i, 1], radii[i]
        if x + r < 0 or y + r < 0 or x - r > width or y - r > height:
            continue
        for row in range(max(int(np.floor(y - r)), 0), min(int(np.floor(y + r)), height - 1) + 1):
            for column in range(max(int(np.floor(x - r)), 0), min(int(np.floor(x + r)), width - 1) + 1):
                inside = (column + 0.5 - x) ** 2 + (row + 0.5 - y) ** 2 <= r * r
                own = column == int(np.floor(x)) and row == int(np.floor(y))
                if (inside or own) and sign * depths[i] < sign * depth[row, column]:
                    depth[row, column] = depths[i]
                    picture[row, column] = colors[i]
