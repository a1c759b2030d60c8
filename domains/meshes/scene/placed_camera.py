"""One camera over many placed copies, in compiled loops: the camera of each copy, what is in view, and how large.

The innermost loops run over copies and are vectorised: copies share the boxes, and each has its own matrix. What is
computed is that of `hra.camera.view_bounds`, for many placements at once.
"""

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
    focal_pixels, near, corner_cosine : see `hra.camera.frustum.Lens`.
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
        for p in range(6):  # assigned slices would take seconds to compile
            for j in range(4):
                planes[p, j, b] = own[p, j]
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
    # The characteristic cubic of A = S - mean I: with p**2 = tr(A A) / 6 the largest eigenvalue of S is
    # mean + 2 p cos(acos(det(A / p) / 2) / 3).
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
        # Sums and differences of rows of the matrix to clip space (Gribb and Hartmann, Fast extraction of viewing
        # frustum planes, 2001).
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


@njit(cache=True, error_model="numpy")
def copies_in_view(eye, placements, numbers, spheres, whole, sources, seen):
    """Raise ``seen`` [B] to 1 for copies that may be in view, to 2 for those that wholly are; conservative.

    A copy may be in view if its sphere, its box and one of the boxes of its sources may.

    Parameters
    ----------
    placements : float64 [B, 4, 4], to the world.
    numbers : int [n], the copies to look at.
    spheres : float64 [B, 3] and [B], centers and radii in the world.
    whole : [1, 2, 3], ``sources`` [S, 2, 3], in the coordinates of the copies.
    """
    world, planes = np.empty((6, 4)), np.empty((6, 4))
    planes_of(eye, np.eye(4), world)
    centers, radii = spheres
    for b in numbers:
        if seen[b] == 2:
            continue
        inwards = _least_reach(world, centers[b, 0], centers[b, 1], centers[b, 2])
        slack = 1e-12 * (abs(centers[b, 0]) + abs(centers[b, 1]) + abs(centers[b, 2]) + radii[b])
        # A sphere is wholly in view if its centre is a radius inwards of all planes, and out of it a radius outwards.
        if inwards >= radii[b] + slack:
            seen[b] = 2
        elif inwards >= -radii[b] - slack and seen[b] == 0:
            planes_of(eye, placements[b], planes)
            inside = _plane_between(planes, whole[0], 0) < 0
            seen[b] = 1 if inside and _any_in_view(planes, sources) else 0


@njit(cache=True, error_model="numpy")
def _least_reach(planes, x, y, z):
    least = np.inf
    for p in range(6):
        least = min(least, planes[p, 0] * x + planes[p, 1] * y + planes[p, 2] * z + planes[p, 3])
    return least


@njit(cache=True, error_model="numpy")
def _any_in_view(planes, boxes):
    """Whether one of the ``boxes`` may be in view; tests as in `hra.camera.frustum`."""
    out = 0
    for s in range(len(boxes)):
        # Boxes side by side are mostly out of view for the same reason.
        out = _plane_between(planes, boxes[s], out)
        if out < 0:
            return True
    return False


@njit(cache=True, error_model="numpy")
def _plane_between(planes, box, first):
    """A plane [6, 4] that the ``box`` [2, 3] is beyond, looked for from the ``first`` on, or -1."""
    x, y, z = 0.5 * (np.float64(box[0, 0]) + box[1, 0]), 0.5 * (np.float64(box[0, 1]) + box[1, 1]), 0.0
    z = 0.5 * (np.float64(box[0, 2]) + box[1, 2])
    wide, high, deep = box[1, 0] - x, box[1, 1] - y, box[1, 2] - z
    size = abs(x) + abs(y) + abs(z) + wide + high + deep
    for k in range(6):
        p = first + k if first + k < 6 else first + k - 6
        a, b, c, d = planes[p, 0], planes[p, 1], planes[p, 2], planes[p, 3]
        # The corner that lies farthest inwards: n.c + d + |n|.h of the box around c with half sizes h.
        inwards = a * x + b * y + c * z + d + abs(a) * wide + abs(b) * high + abs(c) * deep
        if inwards + 1e-14 * (size + abs(d)) < 0.0:
            return p
    return -1


@njit(cache=True, error_model="numpy")
def planes_between(planes, box):
    """The ``planes`` [6, 4, L] that cut ``box`` [2, 3] or leave it outside for some copy, [P, 4, L]."""
    result, count = np.empty_like(planes), 0
    for p in range(planes.shape[0]):
        crosses = False
        for i in range(planes.shape[2]):
            least = planes[p, 3, i]
            for j in range(3):
                least += min(planes[p, j, i] * box[0, j], planes[p, j, i] * box[1, j])
            crosses = crosses or not least >= 0.0
        if crosses:
            result[count] = planes[p]
            count += 1
    return result[:count]


@njit(cache=True, error_model="numpy")
def leave_out(planes, box, result):
    """Set ``result`` [L] to 0 where ``box`` [2, 3] is beyond one of some ``planes`` [P, 4, L] of each copy's view."""
    x, y, z = 0.5 * (np.float64(box[0, 0]) + box[1, 0]), 0.5 * (np.float64(box[0, 1]) + box[1, 1]), 0.0
    z = 0.5 * (np.float64(box[0, 2]) + box[1, 2])
    wide, high, deep = box[1, 0] - x, box[1, 1] - y, box[1, 2] - z
    size = abs(x) + abs(y) + abs(z) + wide + high + deep
    for p in range(planes.shape[0]):
        for i in range(result.size):
            a, b, c, d = planes[p, 0, i], planes[p, 1, i], planes[p, 2, i], planes[p, 3, i]
            inwards = a * x + b * y + c * z + d + abs(a) * wide + abs(b) * high + abs(c) * deep
            result[i] = result[i] if inwards + 1e-14 * (size + abs(d)) >= 0.0 else 0.0


@njit(cache=True, error_model="numpy")
def square_pixels_per_unit(eye, rows, scale, box, result):
    """Fill ``result`` [L] with the square of the most pixels that a unit covers in ``box`` [2, 3], for each copy.

    As `hra.Camera.visible_pixels_per_unit_in_boxes`, for boxes in view; ``rows`` and ``scale`` as of `lenses`.
    """
    for i in range(result.size):
        result[i] = (scale[i] * eye.focal_pixels) ** 2
    if not eye.perspective:
        return
    x, y, z = np.float64(box[0, 0]), np.float64(box[0, 1]), np.float64(box[0, 2])
    wide, high, deep = box[1, 0] - x, box[1, 1] - y, box[1, 2] - z
    widest = 1.0 / (eye.corner_cosine * eye.corner_cosine) - 1.0
    for i in range(result.size):
        across_x, across_y, across_z = rows[0, 0, i] * wide, rows[0, 1, i] * high, rows[0, 2, i] * deep
        up_x, up_y, up_z = rows[1, 0, i] * wide, rows[1, 1, i] * high, rows[1, 2, i] * deep
        away_x, away_y, away_z = -rows[2, 0, i] * wide, -rows[2, 1, i] * high, -rows[2, 2, i] * deep
        across = rows[0, 0, i] * x + rows[0, 1, i] * y + rows[0, 2, i] * z + rows[0, 3, i]
        up = rows[1, 0, i] * x + rows[1, 1, i] * y + rows[1, 2, i] * z + rows[1, 3, i]
        away = -(rows[2, 0, i] * x + rows[2, 1, i] * y + rows[2, 2, i] * z + rows[2, 3, i])
        nearest = away + _below(away_x) + _below(away_y) + _below(away_z)
        # All eight corners, each one edge from the last; the largest square tangent is kept as a quotient, because
        # divisions would take most of the time.
        above, below = _steeper(across, up, away, 0.0, 1.0)
        across, up, away = across + across_x, up + up_x, away + away_x
        above, below = _steeper(across, up, away, above, below)
        across, up, away = across + across_y, up + up_y, away + away_y
        above, below = _steeper(across, up, away, above, below)
        across, up, away = across - across_x, up - up_x, away - away_x
        above, below = _steeper(across, up, away, above, below)
        across, up, away = across + across_z, up + up_z, away + away_z
        above, below = _steeper(across, up, away, above, below)
        across, up, away = across + across_x, up + up_x, away + away_x
        above, below = _steeper(across, up, away, above, below)
        across, up, away = across - across_y, up - up_y, away - away_y
        above, below = _steeper(across, up, away, above, below)
        across, up, away = across - across_x, up - up_x, away - away_x
        above, below = _steeper(across, up, away, above, below)
        inside = nearest > 0.0 and above < widest * below
        above, below = (above if inside else widest), (below if inside else 1.0)
        reached = nearest if nearest > eye.near else eye.near
        # At depth z and the angle t from the axis a unit covers at most f / (z cos(t)) pixels, whose square is
        # f**2 (1 + tan(t)**2) / z**2: the least depth and the largest angle of the box bound it.
        result[i] *= (below + above) / (below * reached * reached)


@njit(cache=True, error_model="numpy")
def _steeper(across, up, away, above, below):
    aside, away = across * across + up * up, away * away
    more = aside * below > above * away
    return (aside if more else above), (away if more else below)


@njit(cache=True, error_model="numpy")
def _below(x):
    return x if x < 0.0 else 0.0
