"""What a camera makes of bounds: how large a unit appears in them, and whether they are in view.

Spheres are tested by the compiled loops of `hra.camera.spheres`, axis-aligned boxes by those below. A point of depth z
(along the axis) at the angle t from the axis is stretched on the screen by at most ``focal_pixels / (z cos(t))``. Depth
is linear, and what lies within an angle of the axis is a cone, hence convex: over a box in front of the eye both are
extreme at corners.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hra.caching import cached_property
from hra.camera import checks
from hra.camera.matrices import depth_slope, frustum_planes, near_corners
from hra.camera.spheres import Lens, affine, rows, spheres_in_frustum, spheres_pixels_per_unit, visible_pixels_per_unit
from hra.compiling import njit
from hra.model.arrays import frozen


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


class ViewBounds:
    """The part of `hra.Camera` that tests spheres and boxes; what it knows follows from two matrices and a viewport."""

    view: np.ndarray
    projection: np.ndarray
    viewport: tuple[int, int]

    @property
    def is_perspective(self) -> bool:
        """Whether distant things look smaller."""
        return bool(self.projection[3, 2])

    @property
    def reversed_depth(self) -> bool:
        """Whether depth falls with the distance, 1 at the near plane and 0 at the far plane."""
        return depth_slope(self.projection) > 0

    @cached_property
    def near(self) -> float:
        """Distance of the near plane in eye units, at its nearest corner."""
        return float(-self._near_corners[:, 2].max())

    @cached_property
    def planes(self) -> np.ndarray:
        """The frustum's planes [5 or 6, 4] float64 in world space, unit normals pointing inwards."""
        return frozen(frustum_planes(self.projection @ self.view, self.reversed_depth))

    @cached_property
    def focal_pixels(self) -> float:
        """Focal length: pixels per unit of the tangent of the angle from the axis (orthographic: per eye unit)."""
        # The norm of the map from tangents to pixels: the most that any direction is stretched, where pixels are not
        # square.
        half_viewport = np.array(self.viewport)[:, None] / 2
        return float(np.linalg.norm(half_viewport * self.projection[:2, :2], 2))

    def pixels_per_unit(self, centers: Any, radii: Any) -> np.ndarray:
        """The most pixels that a unit of length covers on the screen, anywhere in the visible part of each sphere.

        Conservative, and never smaller for a sphere that contains another, so an error that is projected with it stays
        monotone. On the view axis it is focal length in pixels / max(distance - radius, near); off the axis it grows as
        a flat screen stretches, up to the viewport's corner. A sphere that contains the eye counts at the near plane; a
        sphere out of view or behind the eye gets a finite value that falls with its distance (see `spheres_visible`).
        Constant for an orthographic camera.

        Parameters
        ----------
        centers : [N, 3] finite, world space.
        radii : [N] finite, >= 0, world units.

        Returns
        -------
        [N] float64, pixels per world unit, above 0.
        """
        centers, radii = checks.spheres(centers, radii)
        if not self.is_perspective:
            return np.full(len(radii), self._scale * self.focal_pixels)
        return spheres_pixels_per_unit(centers, radii, self._lens)

    def spheres_visible(self, centers: Any, radii: Any) -> np.ndarray:
        """Whether spheres may be in view, [N] bool: conservative, some near the frustum's edges are kept without need.

        Parameters as in `pixels_per_unit`.
        """
        return spheres_in_frustum(*checks.spheres(centers, radii), rows(self.planes))

    def visible_pixels_per_unit(self, centers: Any, radii: Any, where: Any = None) -> np.ndarray:
        """`pixels_per_unit` of the spheres that may be in view, 0 for the others, in one pass over [N] spheres.

        Parameters as in `pixels_per_unit`; ``where`` bool [N] leaves out further spheres.
        """
        centers, radii = checks.spheres(centers, radii)
        where = np.ones(len(radii), np.bool_) if where is None else np.asarray(where, np.bool_)
        if not self.is_perspective:
            return np.where(where & self.spheres_visible(centers, radii), self.pixels_per_unit(centers, radii), 0.0)
        return visible_pixels_per_unit(centers, radii, where, self._lens, rows(self.planes))

    def visible_pixels_per_unit_in_boxes(self, boxes: Any, where: Any = None) -> np.ndarray:
        """`visible_pixels_per_unit` of axis-aligned boxes, which fit most surfaces closer than spheres, [N] float64.

        Takes the least depth and the largest angle from the axis of each box, both extreme at corners. Conservative,
        and never smaller for a box that contains another.

        Parameters
        ----------
        boxes : [N, 2, 3] finite, least and largest corner, world space.
        where : bool [N], leaves out further boxes.
        """
        boxes = checks.boxes(boxes)
        where = np.ones(len(boxes), np.bool_) if where is None else np.asarray(where, np.bool_)
        if not self.is_perspective:
            return np.where(where & boxes_in_frustum(boxes, rows(self.planes)), self._scale * self.focal_pixels, 0.0)
        lens = self._lens
        in_view = where & (boxes_to_frustum(boxes, where, rows(self.planes)) == 0.0)
        return boxes_pixels_per_unit(boxes, in_view, lens)

    def boxes_visible(self, boxes: Any) -> np.ndarray:
        """Whether axis-aligned boxes [N, 2, 3] may be in view, [N] bool: conservative, as `spheres_visible`."""
        return boxes_in_frustum(checks.boxes(boxes), rows(self.planes))

    def boxes_near_view(self, boxes: Any, where: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Boxes out of view too, for things that lie a little beside them.

        What is in view and at most the length d away from a box, in or out of view, is stretched by at most
        s (1 + x) / (1 - x)**2, with s the pixels per unit of the box, f the focal length and x = d s / f < 1 (0 for
        parallel projections).

        Parameters
        ----------
        boxes, where : as in `visible_pixels_per_unit_in_boxes`.

        Returns
        -------
        float64 [N], pixels per unit, those of `visible_pixels_per_unit_in_boxes` for boxes in view.
        float64 [N], world units, how far each box is at least from all that is in view, 0 for boxes in view.
        Both are 0 where not ``where``.
        """
        boxes = checks.boxes(boxes)
        where = np.ones(len(boxes), np.bool_) if where is None else np.asarray(where, np.bool_)
        apart = boxes_to_frustum(boxes, where, rows(self.planes))
        if not self.is_perspective:
            return np.where(where, self._scale * self.focal_pixels, 0.0), apart
        return boxes_pixels_per_unit(boxes, where, self._lens), apart

    @cached_property
    def _lens(self) -> Lens:
        x, y, z = rows(self.view[:3])
        return Lens(x, y, z, self._scale, self.focal_pixels, float(self.near), self._corner_cosine)

    @cached_property
    def _scale(self) -> float:
        return float(np.linalg.norm(self.view[:3, :3], 2))

    @cached_property
    def _near_corners(self) -> np.ndarray:
        return near_corners(self.projection)

    @cached_property
    def _corner_cosine(self) -> float:
        # A frustum is convex, and a cone around the axis too: the widest angle is at a corner.
        corners = self._near_corners
        return float((-corners[:, 2] / np.linalg.norm(corners, axis=1)).min())
