"""Tests of many axis-aligned boxes against one camera, compiled; the counterpart of `hra.camera.spheres`.

A point of depth z (along the axis) at the angle t from the axis is stretched on the screen by at most
``focal_pixels / (z cos(t))``. Depth is linear, and what lies within an angle of the axis is a cone, hence convex: over
a box in front of the eye both are extreme at corners.
"""

from __future__ import annotations

import math

import numpy as np

from hra.camera.spheres import affine
from hra.compiling import njit


@njit(cache=True)
def boxes_in_frustum(boxes, planes):
    """Whether each box [N] reaches the inner side of every plane (`hra.camera.spheres.rows` of [P, 4]).

    A slack of a few float64 roundings keeps boxes that touch a plane.
    """
    result = np.empty(len(boxes), np.bool_)
    for i in range(len(boxes)):
        result[i] = _reach(boxes[i], planes) >= 0.0
    return result


@njit(cache=True)
def boxes_pixels_per_unit(boxes, where, lens):
    """Upper bound [N] of the pixels that a unit length covers in the visible part of each box, perspective.

    The bound takes the least depth of the box and its largest angle from the axis, up to the corner of the viewport.
    It is 0 where not ``where`` [N].

    Parameters
    ----------
    boxes : [N, 2, 3] float32 or float64, least and largest corner, world space.
    lens : `hra.camera.spheres.Lens`.
    """
    result = np.zeros(len(boxes))
    for i in range(len(boxes)):
        if where[i]:
            result[i] = _pixels_per_unit(boxes[i], lens)
    return result


@njit(cache=True)
def boxes_to_frustum(boxes, where, planes):
    """How far each box [N] ``where`` is at least from the inner side of all planes, 0 where `boxes_in_frustum`."""
    result = np.zeros(len(boxes))
    for i in range(len(boxes)):
        if where[i]:
            result[i] = max(-_reach(boxes[i], planes), 0.0)
    return result


@njit(inline="always")
def _pixels_per_unit(box, lens):
    x, y, z = np.float64(box[0, 0]), np.float64(box[0, 1]), np.float64(box[0, 2])
    wide, high, deep = box[1, 0] - x, box[1, 1] - y, box[1, 2] - z
    across_x, across_y, across_z = lens.x[0] * wide, lens.x[1] * high, lens.x[2] * deep
    up_x, up_y, up_z = lens.y[0] * wide, lens.y[1] * high, lens.y[2] * deep
    away_x, away_y, away_z = -lens.z[0] * wide, -lens.z[1] * high, -lens.z[2] * deep
    depth = -affine(lens.z, x, y, z)
    # Depth is linear: each extent of the box lowers it by itself or not at all.
    nearest = depth + min(away_x, 0.0) + min(away_y, 0.0) + min(away_z, 0.0)
    # Square of the tangent of the largest visible angle, which also holds for boxes that reach behind the eye.
    largest = 1.0 / (lens.corner_cosine * lens.corner_cosine) - 1.0
    if nearest > 0.0:
        eye_x, eye_y, square_tangent = affine(lens.x, x, y, z), affine(lens.y, x, y, z), 0.0
        # Loops over constants are unrolled, and then vectorised: a third of the time of one loop over eight corners.
        for a in (0.0, 1.0):
            for b in (0.0, 1.0):
                for c in (0.0, 1.0):
                    across = eye_x + across_x * a + across_y * b + across_z * c
                    up = eye_y + up_x * a + up_y * b + up_z * c
                    away = depth + away_x * a + away_y * b + away_z * c
                    square_tangent = max(square_tangent, (across * across + up * up) / (away * away))
        largest = min(largest, square_tangent)
    return lens.scale * lens.focal_pixels * math.sqrt(1.0 + largest) / max(nearest, lens.near)


@njit(inline="always")
def _reach(box, planes):
    """How far the box reaches to the inner side of every plane, with the slack; negative if it is beyond one."""
    x, y = 0.5 * (np.float64(box[0, 0]) + box[1, 0]), 0.5 * (np.float64(box[0, 1]) + box[1, 1])
    z = 0.5 * (np.float64(box[0, 2]) + box[1, 2])
    wide, high, deep = box[1, 0] - x, box[1, 1] - y, box[1, 2] - z
    size, least = abs(x) + abs(y) + abs(z) + wide + high + deep, np.inf
    for p in range(len(planes)):
        a, b, c, d = planes[p]
        # The corner that is farthest to the inner side; normals are unit vectors, so that it is a distance.
        reach = affine(planes[p], x, y, z) + abs(a) * wide + abs(b) * high + abs(c) * deep
        least = min(least, reach + 1e-14 * (size + abs(d)))
    return least
