"""A plain triangle rasteriser with depth and identity buffers, in float32 as on a GPU; shares no kernel code."""

from __future__ import annotations

import math

import numpy as np
from numba import njit


class Target:
    """Buffers [height, width]: ``depth`` float32, cleared to the far plane, and ``ids`` int32, -1 where nothing is.

    ``bits`` 24 stores depth as a fixed-point buffer would; None keeps float32.
    """

    def __init__(self, height: int, width: int, reversed_depth: bool = False, bits: int | None = None) -> None:
        self.depth = np.full((height, width), 0.0 if reversed_depth else 1.0, np.float32)
        self.ids = np.full((height, width), -1, np.int32)
        self.reversed_depth = reversed_depth
        self.steps = 2.0**bits - 1 if bits else 0.0

    def draw(self, triangles: np.ndarray, ids: np.ndarray, matrix: np.ndarray) -> None:
        """Add triangles [T, 3, 3] of objects ``ids`` [T] through a matrix [4, 4] to clip space with z in [0, w]."""
        matrix = matrix.astype(np.float32)
        points = triangles.astype(np.float32).reshape(-1, 3)
        clip = points @ matrix[:, :3].T + matrix[:, 3]
        _draw(clip.reshape(-1, 3, 4), ids.astype(np.int32), self.depth, self.ids, self.reversed_depth, self.steps)

    def seen(self, count: int) -> np.ndarray:
        """Which of ``count`` objects own a pixel, bool [count]."""
        visible = np.zeros(count, bool)
        visible[self.ids[self.ids >= 0]] = True
        return visible


@njit(cache=True)
def _draw(clip, ids, depth, owner, reversed_depth, steps):
    polygon, result = np.empty((4, 4), np.float32), np.empty((4, 4), np.float32)
    for t in range(len(clip)):
        for i in range(3):  # one by one, here and below: assigned slices would take seconds to compile
            for k in range(4):
                polygon[i, k] = clip[t, i, k]
        corners = _clip_near(polygon, 3, result, reversed_depth)
        for last in range(2, corners):
            _fill(result[0], result[last - 1], result[last], ids[t], depth, owner, reversed_depth, steps)


@njit(cache=True)
def _before(corner, reversed_depth):
    """Signed distance from the near plane, negative before it."""
    return corner[3] - corner[2] if reversed_depth else corner[2]


@njit(cache=True)
def _clip_near(polygon, size, result, reversed_depth):
    """Sutherland and Hodgman, one plane; a little beyond it, so that w stays positive."""
    count = 0
    for i in range(size):
        a, b = polygon[i], polygon[(i + 1) % size]
        da, db = _before(a, reversed_depth), _before(b, reversed_depth)
        if da >= 0:
            for k in range(4):
                result[count, k] = a[k]
            count += 1
        if (da >= 0) != (db >= 0):
            for k in range(4):
                result[count, k] = a[k] + (b[k] - a[k]) * (da / (da - db))
            count += 1
    return count


@njit(cache=True)
def _screen(corner, height, width):
    """Pixel position, snapped to 1/256 of a pixel, and depth."""
    x = (corner[0] / corner[3] * np.float32(0.5) + np.float32(0.5)) * np.float32(width)
    y = (np.float32(0.5) - corner[1] / corner[3] * np.float32(0.5)) * np.float32(height)
    return np.rint(np.float64(x) * 256) / 256, np.rint(np.float64(y) * 256) / 256, corner[2] / corner[3]


@njit(cache=True)
def _fill(a, b, c, identity, depth, owner, reversed_depth, steps):
    height, width = depth.shape
    if a[3] <= 0 or b[3] <= 0 or c[3] <= 0:
        return
    ax, ay, az = _screen(a, height, width)
    bx, by, bz = _screen(b, height, width)
    cx, cy, cz = _screen(c, height, width)
    area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    if area == 0:
        return
    x0, x1 = max(math.ceil(min(ax, bx, cx) - 0.5), 0), min(math.floor(max(ax, bx, cx) - 0.5), width - 1)
    y0, y1 = max(math.ceil(min(ay, by, cy) - 0.5), 0), min(math.floor(max(ay, by, cy) - 0.5), height - 1)
    for row in range(y0, y1 + 1):
        for column in range(x0, x1 + 1):
            x, y = column + 0.5, row + 0.5
            u = ((bx - x) * (cy - y) - (by - y) * (cx - x)) / area
            v = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) / area
            if u < 0 or v < 0 or u + v > 1:
                continue
            z = np.float32(u) * az + np.float32(v) * bz + np.float32(1 - u - v) * cz
            if not 0 <= z <= 1:
                continue
            if steps > 0:
                z = np.float32(np.rint(np.float64(z) * steps) / steps)
            nearer = z > depth[row, column] if reversed_depth else z < depth[row, column]
            if nearer:
                depth[row, column], owner[row, column] = z, identity
