"""A rasteriser in plain NumPy: every triangle against every pixel centre, in float64."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# OpenGL rounds corners to at least 1/16 pixel, common drivers to 1/256: nearer to an edge than that coverage is theirs.
EDGE = 1 / 64


class Raster(NamedTuple):
    """What is seen, [H, W] with row 0 at the top.

    Attributes
    ----------
    triangle : the nearest one, -1 for none.
    depth : its depth in 0 .. 1, the far plane's for none; slack : what rounded corners may change it by.
    certain : whether the pixel is clear of edges, of the depth range's ends, and of two triangles at nearly one depth.
    """

    triangle: np.ndarray
    depth: np.ndarray
    slack: np.ndarray
    certain: np.ndarray


def rasterise(corners: np.ndarray, matrix: np.ndarray, size: tuple[int, int], reversed_depth: bool) -> Raster:
    """Triangles [T, 3, 3] that lie in front of the eye, seen through a world-to-clip matrix."""
    width, height = size
    nearness, slack = np.full((height, width), -np.inf), np.zeros((height, width))
    triangle, certain = np.full((height, width), -1), np.ones((height, width), bool)
    x, y = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    for index, clip in enumerate(np.concatenate([corners, np.ones((len(corners), 3, 1))], 2) @ matrix.T):
        device = clip[:, :3] / clip[:, 3:]
        screen = np.stack([(1 + device[:, 0]) * width / 2, (1 - device[:, 1]) * height / 2], 1)
        distance = _distance_inside(screen, x, y)
        near, rounding = _plane(screen, device[:, 2] if reversed_depth else (1 - device[:, 2]) / 2, x, y)
        wins = (distance > 0) & (near >= 0) & (near <= 1) & (near > nearness)
        unsure = (np.abs(distance) < EDGE) | (np.minimum(abs(near), abs(near - 1)) < rounding)
        certain &= ~((distance > -EDGE) & unsure & (near > nearness - rounding - slack))
        certain &= ~((distance > -EDGE) & (np.abs(near - nearness) < rounding + slack))
        nearness[wins], triangle[wins], slack[wins] = near[wins], index, rounding
    depth = np.maximum(nearness, 0)
    return Raster(triangle, depth if reversed_depth else 1 - depth, slack, certain)


def _distance_inside(screen: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Distance [H, W] in pixels from the nearest of the edges' lines, negative outside."""
    along = np.roll(screen, -1, axis=0) - screen
    winding = np.sign(along[0, 0] * along[1, 1] - along[0, 1] * along[1, 0])
    normal = np.stack([-along[:, 1], along[:, 0]], 1) / np.linalg.norm(along, axis=1)[:, None] * winding
    return np.min([n[0] * (x - c[0]) + n[1] * (y - c[1]) for n, c in zip(normal, screen, strict=True)], axis=0)


def _plane(screen: np.ndarray, values: np.ndarray, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
    """The plane through three values, which depth is on the screen, and by how much rounded corners may shift it."""
    slope_x, slope_y, constant = np.linalg.solve(np.column_stack([screen, np.ones(3)]), values)
    return slope_x * x + slope_y * y + constant, EDGE * (abs(slope_x) + abs(slope_y)) + 1e-6
