"""Tests of many spheres or boxes against one camera, compiled: a metric runs them over every node of a hierarchy.

A point of depth z (along the axis) at the angle t from the axis is stretched on the screen by at most
``focal_pixels / (z cos(t))``. Depth is linear, and what lies within an angle of the axis is a cone, hence convex: over
a box in front of the eye both are extreme at corners.

Rows of matrices and planes are handed over as tuples, which a compiled loop keeps in registers: over a million spheres
that took 12 instead of 17 ms.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hra.compiling import njit

_LEAST = 1e-150  # squares of depths below this vanish

Row = tuple[float, float, float, float]
"""Factors of x, y, z, and a constant."""


class Lens(NamedTuple):
    """A perspective camera, as the loops want it.

    Attributes
    ----------
    x, y, z : rows of the matrix from the world to the eye.
    scale : eye units per world unit, the most that the matrix stretches.
    focal_pixels : pixels per unit of tan(angle).
    near : eye units, a lower bound of the distance from the eye.
    corner_cosine : cosine of the largest angle between the axis and a visible point.
    """

    x: Row
    y: Row
    z: Row
    scale: float
    focal_pixels: float
    near: float
    corner_cosine: float


@njit(cache=True)
def spheres_pixels_per_unit(centers, radii, lens):
    """Upper bound [N] of the pixels that a unit length covers in the visible part of each sphere, perspective.

    A point at distance r from the eye and at the angle t from the axis is stretched by at most
    ``focal_pixels / (r cos(t)**2)``. The bound takes the least r and the largest t of the sphere, t up to the corner of
    the viewport.

    Parameters
    ----------
    centers : [N, 3] float64, world space.
    radii : [N] float64, world units.
    lens : `Lens`.
    """
    result = np.empty(len(centers))
    for i in range(len(centers)):
        result[i] = _sphere_pixels(centers[i, 0], centers[i, 1], centers[i, 2], radii[i], lens)
    return result


@njit(cache=True)
def visible_pixels_per_unit(centers, radii, where, lens, planes):
    """`spheres_pixels_per_unit` [N] of the spheres ``where`` [N] that are in the frustum, 0 for all others."""
    result = np.zeros(len(centers))
    for i in range(len(centers)):
        x, y, z = centers[i, 0], centers[i, 1], centers[i, 2]
        if where[i] and _sphere_reaches(x, y, z, radii[i], planes):
            result[i] = _sphere_pixels(x, y, z, radii[i], lens)
    return result


@njit(cache=True)
def spheres_in_frustum(centers, radii, planes):
    """Whether each sphere [N] reaches the inner side of every plane (rows of [P, 4]); True for spheres of NaN.

    A slack of a few float64 roundings keeps spheres that touch a plane.
    """
    result = np.empty(len(centers), np.bool_)
    for i in range(len(centers)):
        result[i] = _sphere_reaches(centers[i, 0], centers[i, 1], centers[i, 2], radii[i], planes)
    return result


@njit(inline="always")
def affine(row, x, y, z):
    """A point in the product with a `Row`."""
    return row[0] * x + row[1] * y + row[2] * z + row[3]


@njit(inline="always")
def _sphere_pixels(x, y, z, radius, lens):
    eye_x, eye_y, depth = affine(lens.x, x, y, z), affine(lens.y, x, y, z), -affine(lens.z, x, y, z)
    lateral = math.sqrt(eye_x * eye_x + eye_y * eye_y)
    distance = math.sqrt(lateral * lateral + depth * depth)
    radius = radius * lens.scale
    cosine = lens.corner_cosine
    if distance > radius:
        per_distance = 1.0 / distance
        # The largest angle of a point is that of the centre and half of what the sphere takes up: cos(t + a), by the
        # sum formula. Beyond a right angle it is negative, and the corner of the viewport counts.
        sine_of_sphere = radius * per_distance
        cosine_of_sphere = math.sqrt(max(1.0 - sine_of_sphere * sine_of_sphere, 0.0))
        cosine = max(cosine, (depth * cosine_of_sphere - lateral * sine_of_sphere) * per_distance)
    return lens.scale * lens.focal_pixels / (max(distance - radius, lens.near) * cosine * cosine)


@njit(inline="always")
def _sphere_reaches(x, y, z, radius, planes):
    size, inside = abs(x) + abs(y) + abs(z), True
    for p in range(len(planes)):
        a, b, c, d = planes[p]
        slack = 1e-14 * (max(abs(a), abs(b), abs(c)) * size + abs(d))
        inside = inside and not affine(planes[p], x, y, z) + slack < -radius
    return inside


@njit(cache=True)
def boxes_in_frustum(boxes, planes):
    """Whether each box [N] reaches the inner side of every plane (rows of [P, 4]).

    A slack of a few float64 roundings keeps boxes that touch a plane.
    """
    result = np.empty(len(boxes), np.bool_)
    for i in range(len(boxes)):
        result[i] = _box_reach(boxes[i], planes) >= 0.0
    return result


# Without Python's check of each divisor, which keeps the loop over corners from being vectorised: half the time.
@njit(cache=True, error_model="numpy")
def boxes_pixels_per_unit(boxes, where, lens):
    """Upper bound [N] of the pixels that a unit length covers in the visible part of each box, perspective.

    The bound takes the least depth of the box and its largest angle from the axis, up to the corner of the viewport.
    It is 0 where not ``where`` [N].

    Parameters
    ----------
    boxes : [N, 2, 3] float32 or float64, least and largest corner, world space.
    lens : `Lens`.
    """
    result = np.empty(len(boxes))
    for i in range(len(boxes)):
        result[i] = _box_pixels(boxes[i], lens) if where[i] else 0.0
    return result


@njit(cache=True)
def boxes_to_frustum(boxes, where, planes):
    """How far each box [N] ``where`` is at least from the inner side of all planes, 0 where `boxes_in_frustum`."""
    result = np.empty(len(boxes))
    for i in range(len(boxes)):
        result[i] = max(-_box_reach(boxes[i], planes), 0.0) if where[i] else 0.0
    return result


@njit(inline="always")
def _box_pixels(box, lens):
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
    if nearest > _LEAST:  # so is every corner, since sums that are rounded keep their order
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
def _box_reach(box, planes):
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
