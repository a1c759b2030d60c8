"""Tests of many spheres against one camera, compiled: a metric runs them over every node of a hierarchy."""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(cache=True)
def spheres_pixels_per_unit(
    centers: np.ndarray,
    radii: np.ndarray,
    view: np.ndarray,
    scale: float,
    focal_pixels: float,
    near: float,
    corner_cosine: float,
) -> np.ndarray:
    """Upper bound [N] of the pixels that a unit length covers in the visible part of each sphere, perspective.

    A point at distance r from the eye and at the angle t from the axis is stretched by at most
    ``focal_pixels / (r cos(t)**2)``. The bound takes the least r and the largest t of the sphere, t up to the corner of
    the viewport.

    Parameters
    ----------
    centers : [N, 3] float64, world space.
    radii : [N] float64, world units.
    view : [4, 4] float64, world to eye.
    scale : eye units per world unit, the most that ``view`` stretches.
    focal_pixels : pixels per unit of tan(angle).
    near : eye units, a lower bound of r.
    corner_cosine : cosine of the largest angle between the axis and a visible point.
    """
    result = np.empty(len(centers))
    for i in range(len(centers)):
        result[i] = _pixels_per_unit(centers[i], radii[i], view, scale, focal_pixels, near, corner_cosine)
    return result


@njit(cache=True)
def visible_pixels_per_unit(
    centers: np.ndarray,
    radii: np.ndarray,
    where: np.ndarray,
    view: np.ndarray,
    scale: float,
    focal_pixels: float,
    near: float,
    corner_cosine: float,
    planes: np.ndarray,
) -> np.ndarray:
    """`spheres_pixels_per_unit` [N] of the spheres ``where`` [N] that are in the frustum, 0 for all others."""
    result = np.zeros(len(centers))
    for i in range(len(centers)):
        if where[i] and _reaches(centers[i], radii[i], planes):
            result[i] = _pixels_per_unit(centers[i], radii[i], view, scale, focal_pixels, near, corner_cosine)
    return result


@njit(inline="always")
def _pixels_per_unit(center, radius, view, scale, focal_pixels, near, corner_cosine):
    x, y, z = center[0], center[1], center[2]
    eye_x = view[0, 0] * x + view[0, 1] * y + view[0, 2] * z + view[0, 3]
    eye_y = view[1, 0] * x + view[1, 1] * y + view[1, 2] * z + view[1, 3]
    depth = -(view[2, 0] * x + view[2, 1] * y + view[2, 2] * z + view[2, 3])
    lateral = math.sqrt(eye_x * eye_x + eye_y * eye_y)
    distance = math.sqrt(lateral * lateral + depth * depth)
    radius = radius * scale
    cosine = corner_cosine
    if distance > radius:
        sine_of_sphere = radius / distance
        cosine_of_sphere = math.sqrt(1 - sine_of_sphere * sine_of_sphere)
        cosine = max(cosine, (depth * cosine_of_sphere - lateral * sine_of_sphere) / distance)
    return scale * focal_pixels / (max(distance - radius, near) * cosine * cosine)


@njit(cache=True)
def spheres_in_frustum(centers: np.ndarray, radii: np.ndarray, planes: np.ndarray) -> np.ndarray:
    """Whether each sphere [N] reaches the inner side of every plane [P, 4]; True for spheres of NaN.

    A slack of a few float64 roundings keeps spheres that touch a plane.
    """
    result = np.empty(len(centers), np.bool_)
    for i in range(len(centers)):
        result[i] = _reaches(centers[i], radii[i], planes)
    return result


@njit(inline="always")
def _reaches(center, radius, planes):
    x, y, z = center[0], center[1], center[2]
    inside = True
    for p in range(len(planes)):
        a, b, c, d = planes[p, 0], planes[p, 1], planes[p, 2], planes[p, 3]
        distance = a * x + b * y + c * z + d
        slack = 1e-14 * (abs(a * x) + abs(b * y) + abs(c * z) + abs(d))
        inside = inside and not distance + slack < -radius
    return inside
