"""Projection of bounds in Numba.

Rows of the matrix are tuples, products of coordinates are shared between corners, and what a bound turns out not to
need is computed all the same: without these the loop takes 1.6 times as long.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from hra.kernels.culling.depth_view import ROUNDING, DepthView
from hra.kernels.culling.reference import in_front as in_front


def project_boxes(boxes: Any, view: DepthView) -> tuple[np.ndarray, np.ndarray]:
    """See :func:`hra.kernels.culling.projection.project_boxes`; returns rectangles [K, 4] and depths [K]."""
    rects, depth = np.empty((len(boxes), 4), np.int32), np.empty(len(boxes), np.float32)
    matrix, planes = _rows(view)
    _project_boxes(boxes, matrix, planes, _target(view), rects, depth)
    return rects, depth


def project_spheres(spheres: Any, view: DepthView) -> tuple[np.ndarray, np.ndarray]:
    """See :func:`hra.kernels.culling.projection.project_spheres`; returns rectangles [K, 4] and depths [K]."""
    rects, depth = np.empty((len(spheres), 4), np.int32), np.empty(len(spheres), np.float32)
    normals = view.oriented[:, :3]
    lengths = tuple(np.linalg.norm(view.planes[:, :3], axis=1).tolist())
    matrix, planes = _rows(view)
    _project_spheres(spheres, matrix, planes, normals @ normals.T, lengths, _target(view), rects, depth)
    return rects, depth


def _rows(view: DepthView) -> tuple[tuple[tuple[float, ...], ...], ...]:
    """The rows of the matrix and the planes as tuples, which a compiled loop keeps in registers."""
    matrix, planes = view.oriented.tolist(), view.planes.tolist()
    return tuple(map(tuple, matrix)), tuple(map(tuple, planes))


def _target(view: DepthView) -> tuple[int, int, float, float]:
    return view.width, view.height, view.sign, view.slack


@njit(inline="always")
def _dot(row, x, y, z):
    return row[0] * x + row[1] * y + row[2] * z + row[3]


@njit(inline="always")
def _magnitude(row, x, y, z):
    return ROUNDING * (abs(row[0]) * x + abs(row[1]) * y + abs(row[2]) * z + abs(row[3]))


@njit(inline="always")
def _least(row, x0, y0, z0, x1, y1, z1):
    a, b, c = row[0], row[1], row[2]
    return min(a * x0, a * x1) + min(b * y0, b * y1) + min(c * z0, c * z1) + row[3]


@njit(inline="always")
def _most(row, x0, y0, z0, x1, y1, z1):
    a, b, c = row[0], row[1], row[2]
    return max(a * x0, a * x1) + max(b * y0, b * y1) + max(c * z0, c * z1) + row[3]


@njit(inline="always")
def _terms(row, x0, y0, z0, x1, y1, z1):
    return row[0] * x0, row[0] * x1, row[1] * y0, row[1] * y1, row[2] * z0, row[2] * z1


@njit(inline="always")
def _at_corner(terms, corner, last):
    return terms[corner & 1] + terms[2 + (corner >> 1 & 1)] + terms[4 + (corner >> 2)] + last


@njit(inline="always")
def _store(k, finite, outside, whole, low, high, least_w, rounding, target, rects, depth):
    """Write the rectangle and depth of bounds from the extremes of x, y, z over w."""
    width, height, sign, slack = target
    scale = 1.0 / least_w
    margin_x = 0.5 * width * ((rounding[0] + rounding[3]) * scale)
    margin_y = 0.5 * height * ((rounding[1] + rounding[3]) * scale)
    # Floats are cut to the image before they become integers, which they might not fit.
    x0 = np.floor(max((1 + low[0]) * 0.5 * width - margin_x, 0.0))
    x1 = np.floor(min((1 + high[0]) * 0.5 * width + margin_x, width - 1.0))
    y0 = np.floor(max((1 - high[1]) * 0.5 * height - margin_y, 0.0))
    y1 = np.floor(min((1 - low[1]) * 0.5 * height + margin_y, height - 1.0))
    share = 1.0 if sign > 0 else -low[2]
    nearest = sign * (low[2] - slack - (rounding[2] + share * rounding[3]) * scale)
    if finite and (outside or (not whole and (x0 > x1 or y0 > y1))):
        x0, y0, x1, y1, nearest = 0.0, 0.0, -1.0, -1.0, sign * np.inf
    elif whole or not finite:
        x0, y0, x1, y1, nearest = 0.0, 0.0, width - 1.0, height - 1.0, -sign * np.inf
    rects[k, 0], rects[k, 1], rects[k, 2], rects[k, 3] = np.int32(x0), np.int32(y0), np.int32(x1), np.int32(y1)
    depth[k] = nearest


@njit(cache=True, nogil=True, error_model="numpy")
def _project_boxes(boxes, rows, planes, target, rects, depth):
    row_x, row_y, row_z, row_w = rows
    for k in range(len(boxes)):
        x0, y0, z0 = np.float64(boxes[k, 0, 0]), np.float64(boxes[k, 0, 1]), np.float64(boxes[k, 0, 2])
        x1, y1, z1 = np.float64(boxes[k, 1, 0]), np.float64(boxes[k, 1, 1]), np.float64(boxes[k, 1, 2])
        finite = abs(x0 + y0 + z0 + x1 + y1 + z1) < np.inf
        x, y, z = max(abs(x0), abs(x1)), max(abs(y0), abs(y1)), max(abs(z0), abs(z1))
        rounding = (
            _magnitude(row_x, x, y, z),
            _magnitude(row_y, x, y, z),
            _magnitude(row_z, x, y, z),
            _magnitude(row_w, x, y, z),
        )
        tolerance = max(max(rounding[0], rounding[1]), rounding[2]) + rounding[3]
        outside = _most(planes[0], x0, y0, z0, x1, y1, z1) < -tolerance
        outside |= _most(planes[1], x0, y0, z0, x1, y1, z1) < -tolerance
        least_w = _least(row_w, x0, y0, z0, x1, y1, z1)
        whole = not ((_least(planes[0], x0, y0, z0, x1, y1, z1) > 0) & (least_w > rounding[3]))
        if whole:  # no rectangle will tell whether it is beside the frustum
            for p in range(2, 6):
                outside |= _most(planes[p], x0, y0, z0, x1, y1, z1) < -tolerance
        in_x, in_y = _terms(row_x, x0, y0, z0, x1, y1, z1), _terms(row_y, x0, y0, z0, x1, y1, z1)
        in_z, in_w = _terms(row_z, x0, y0, z0, x1, y1, z1), _terms(row_w, x0, y0, z0, x1, y1, z1)
        low_x, low_y, low_z, high_x, high_y = np.inf, np.inf, np.inf, -np.inf, -np.inf
        for corner in range(8):
            scale = 1.0 / _at_corner(in_w, corner, row_w[3])
            px, py = _at_corner(in_x, corner, row_x[3]) * scale, _at_corner(in_y, corner, row_y[3]) * scale
            low_x, high_x, low_y, high_y = min(low_x, px), max(high_x, px), min(low_y, py), max(high_y, py)
            low_z = min(low_z, _at_corner(in_z, corner, row_z[3]) * scale)
        low, high = (low_x, low_y, low_z), (high_x, high_y)
        _store(k, finite, outside, whole, low, high, least_w, rounding, target, rects, depth)


@njit(inline="always")
def _tangents(value, w, square, own, mixed, last):
    """Extremes of value / w over a sphere: roots s of ``(value - s w)**2 = square * |row - s last row|**2``."""
    a = w * w - square * last
    b = value * w - square * mixed
    c = value * value - square * own
    root = math.sqrt(max(b * b - a * c, 0.0))
    return (b - root) / a, (b + root) / a


@njit(cache=True, nogil=True, error_model="numpy")
def _project_spheres(spheres, rows, planes, products, lengths, target, rects, depth):
    row_x, row_y, row_z, row_w = rows
    last = products[3, 3]
    for k in range(len(spheres)):
        x, y, z = np.float64(spheres[k, 0]), np.float64(spheres[k, 1]), np.float64(spheres[k, 2])
        radius = np.float64(spheres[k, 3])
        finite = math.isfinite(x + y + z + radius) and radius >= 0
        far_x, far_y, far_z = abs(x) + radius, abs(y) + radius, abs(z) + radius
        rounding = (
            _magnitude(row_x, far_x, far_y, far_z),
            _magnitude(row_y, far_x, far_y, far_z),
            _magnitude(row_z, far_x, far_y, far_z),
            _magnitude(row_w, far_x, far_y, far_z),
        )
        tolerance = max(max(rounding[0], rounding[1]), rounding[2]) + rounding[3]
        outside = _dot(planes[0], x, y, z) + radius * lengths[0] < -tolerance
        outside |= _dot(planes[1], x, y, z) + radius * lengths[1] < -tolerance
        w, square = _dot(row_w, x, y, z), radius * radius
        least_w = w - radius * math.sqrt(last)
        whole = not ((_dot(planes[0], x, y, z) - radius * lengths[0] > 0) & (least_w > rounding[3]))
        if whole:
            for p in range(2, 6):
                outside |= _dot(planes[p], x, y, z) + radius * lengths[p] < -tolerance
        low_x, high_x = _tangents(_dot(row_x, x, y, z), w, square, products[0, 0], products[0, 3], last)
        low_y, high_y = _tangents(_dot(row_y, x, y, z), w, square, products[1, 1], products[1, 3], last)
        low_z, _ = _tangents(_dot(row_z, x, y, z), w, square, products[2, 2], products[2, 3], last)
        low, high = (low_x, low_y, low_z), (high_x, high_y)
        _store(k, finite, outside, whole, low, high, least_w, rounding, target, rects, depth)
