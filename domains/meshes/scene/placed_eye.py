"""A camera as compiled loops over many placed copies want it, and in the coordinates of each copy."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hra.camera.view_bounds import ViewBounds
from hra.compiling import njit

# Parts of what is added up that rounding may lose where a placement is far from the origin, and then some.
_LOST = 1e-15
# Far planes that count as infinite, see `hra.camera.matrices.frustum_planes`.
_INFINITE = 1e-9


class Eye(NamedTuple):
    """A camera of the world, as the loops want it.

    Attributes
    ----------
    to_eye, to_clip : float64 [4, 4], from the world to the eye and to clip space.
    perspective, reversed_depth : see `hra.Camera`.
    focal_pixels, near, corner_cosine : see `hra.camera.spheres.Lens`.
    """

    to_eye: np.ndarray
    to_clip: np.ndarray
    perspective: bool
    reversed_depth: bool
    focal_pixels: float
    near: float
    corner_cosine: float

    @classmethod
    def of(cls, camera: ViewBounds) -> Eye:
        """What loops need to know of ``camera``."""
        bounds = (camera.focal_pixels, camera.near, camera._corner_cosine)
        return cls(camera.view, camera.projection @ camera.view, camera.is_perspective, camera.reversed_depth, *bounds)


@njit(cache=True, error_model="numpy")
def lenses(eye, placements):
    """The camera in the coordinates of some copies.

    Parameters
    ----------
    placements : float64 [L, 4, 4].

    Returns
    -------
    rows : float64 [3, 4, L], of the matrix from a copy to the eye.
    planes : float64 [6, 4, L], of the view, see `hra.Camera.planes`.
    scale : float64 [L], eye units per unit of a copy, at most.
    """
    count = placements.shape[0]
    rows, planes, scale = np.zeros((3, 4, count)), np.empty((6, 4, count)), np.empty(count)
    own = np.empty((6, 4))
    for b in range(count):
        for i in range(3):
            for j in range(4):
                for k in range(4):
                    rows[i, j, b] += eye.to_eye[i, k] * placements[b, k, j]
        scale[b] = _largest_stretch(rows[:, :3, b])
        planes_of(eye, placements[b], own)
        planes[:, :, b] = own
    return rows, planes, scale


@njit(cache=True, error_model="numpy")
def _largest_stretch(matrix):
    """The largest singular value of a matrix [3, 3] (eigenvalues of symmetric matrices: Smith 1961)."""
    square = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            for k in range(3):
                square[i, j] += matrix[k, i] * matrix[k, j]
    mean = (square[0, 0] + square[1, 1] + square[2, 2]) / 3.0
    spread = 0.0
    for i in range(3):
        square[i, i] -= mean
        for j in range(3):
            spread += square[i, j] ** 2
    spread = math.sqrt(spread / 6.0)
    if spread <= 1e-150 or spread <= 1e-15 * mean:
        return math.sqrt(mean + 2.0 * spread)
    a, b, c = square[0] / spread, square[1] / spread, square[2] / spread
    determinant = (
        a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0])
    )
    angle = math.acos(min(max(determinant / 2.0, -1.0), 1.0)) / 3.0
    return math.sqrt(mean + 2.0 * spread * math.cos(angle))


@njit(cache=True, error_model="numpy")
def planes_of(eye, placement, planes):
    """Fill ``planes`` [6, 4] with those of the view in a copy's coordinates; unit normals that point inwards."""
    product, magnitude = np.zeros((4, 4)), np.zeros((4, 4))
    for i in range(4):
        for j in range(4):
            for k in range(4):
                term = eye.to_clip[i, k] * placement[k, j]
                product[i, j] += term
                magnitude[i, j] += abs(term)
    near_length = 0.0
    for p in range(6):
        # Left, right, bottom, top: w + x, w - x, w + y, w - y; near and far by depth.
        axis, sign = p // 2, 1.0 - 2.0 * (p % 2)
        if axis == 2 and eye.reversed_depth:
            own, sign = (1.0, -1.0) if p == 4 else (0.0, 1.0)
        else:
            own = 1.0
        lost = _LOST * (own * magnitude[3, 3] + magnitude[axis, 3])
        for j in range(4):
            planes[p, j] = own * product[3, j] + sign * product[axis, j]
        length = math.sqrt(planes[p, 0] ** 2 + planes[p, 1] ** 2 + planes[p, 2] ** 2)
        if p == 5 and length <= _INFINITE * near_length:
            planes[p, 0], planes[p, 1], planes[p, 2], planes[p, 3] = 0.0, 0.0, 0.0, 1.0
            continue
        near_length = length
        for j in range(4):
            planes[p, j] /= length
        planes[p, 3] += lost / length
