"""What a camera makes of bounds: how large a unit appears in them, and whether they are in view.

Spheres and axis-aligned boxes are checked here, once, and tested by the compiled loops of `hra.camera.frustum`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from hra.caching import cached_property
from hra.camera.frustum import (
    Lens,
    Row,
    boxes_in_frustum,
    boxes_pixels_per_unit,
    boxes_to_frustum,
    spheres_in_frustum,
    spheres_pixels_per_unit,
    visible_pixels_per_unit,
)
from hra.camera.matrices import depth_slope, frustum_planes, near_corners
from hra.errors import ArrayError
from hra.model.arrays import to_numpy


def rows(matrix: Iterable[Iterable[float]]) -> tuple[Row, ...]:
    """The rows of a matrix or of a list of planes [P, 4]."""
    return tuple((float(a), float(b), float(c), float(d)) for a, b, c, d in matrix)


def checked_points(name: str, values: Any) -> np.ndarray:
    """Points [N, 3] as contiguous float64, else ArrayError; whether they are finite is not checked."""
    array = _array(values)
    if array.ndim != 2 or array.shape[1] != 3 or array.dtype.kind not in "iuf":
        raise ArrayError(f"{name} must be numbers of shape [N, 3], got {array.shape} of {array.dtype}", where=name)
    return np.ascontiguousarray(array, np.float64)


def checked_spheres(centers: Any, radii: Any) -> tuple[np.ndarray, np.ndarray]:
    """Centres [N, 3] and radii [N] as contiguous floats, else ArrayError; whether they are finite is not checked.

    float32 stays as it is: a million spheres are copied as slowly as they are tested.
    """
    array = _array(centers)
    checked = (
        array
        if array.dtype == np.float32 and array.ndim == 2 and array.shape[1] == 3
        else checked_points("centers", array)
    )
    array = _array(radii)
    if array.shape != (len(checked),) or array.dtype.kind not in "iuf":
        raise ArrayError(f"radii must be {len(checked)} numbers, got {array.shape} of {array.dtype}", where="radii")
    return _contiguous(checked, checked.dtype), _contiguous(array, checked.dtype)


def checked_boxes(values: Any) -> np.ndarray:
    """Boxes [N, 2, 3] as contiguous floats, else ArrayError; float32 stays as it is, see `checked_spheres`."""
    array = _array(values)
    if array.ndim != 3 or array.shape[1:] != (2, 3) or array.dtype.kind not in "iuf":
        what = f"boxes must be numbers of shape [N, 2, 3], got {array.shape} of {array.dtype}"
        raise ArrayError(what, where="boxes")
    return _contiguous(array, array.dtype if array.dtype == np.float32 else np.float64)


def _array(values: Any) -> np.ndarray:
    return values if type(values) is np.ndarray else to_numpy(values)


def _contiguous(array: np.ndarray, dtype: Any) -> np.ndarray:
    """Read-only, whether or not it was: the loops over it are compiled for one kind of array."""
    found = np.ascontiguousarray(array, dtype).view()
    found.flags.writeable = False
    return found


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
        planes = frustum_planes(self.projection, self.view)
        planes.flags.writeable = False
        return planes

    @cached_property
    def _plane_rows(self) -> tuple[Row, ...]:
        return rows(self.planes)

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
        centers, radii = checked_spheres(centers, radii)
        if not self.is_perspective:
            return np.full(len(radii), self._scale * self.focal_pixels)
        return spheres_pixels_per_unit(centers, radii, self._lens)

    def spheres_visible(self, centers: Any, radii: Any) -> np.ndarray:
        """Whether spheres may be in view, [N] bool: conservative, some near the frustum's edges are kept without need.

        Parameters as in `pixels_per_unit`.
        """
        return spheres_in_frustum(*checked_spheres(centers, radii), self._plane_rows)

    def visible_pixels_per_unit(self, centers: Any, radii: Any, where: Any = None) -> np.ndarray:
        """`pixels_per_unit` of the spheres that may be in view, 0 for the others, in one pass over [N] spheres.

        Parameters as in `pixels_per_unit`; ``where`` bool [N] leaves out further spheres.
        """
        centers, radii = checked_spheres(centers, radii)
        where = np.ones(len(radii), np.bool_) if where is None else np.asarray(where, np.bool_)
        if not self.is_perspective:
            return np.where(where & self.spheres_visible(centers, radii), self.pixels_per_unit(centers, radii), 0.0)
        return visible_pixels_per_unit(centers, radii, where, self._lens, self._plane_rows)

    def visible_pixels_per_unit_in_boxes(self, boxes: Any, where: Any = None) -> np.ndarray:
        """`visible_pixels_per_unit` of axis-aligned boxes, which fit most surfaces closer than spheres, [N] float64.

        Takes the least depth and the largest angle from the axis of each box, both extreme at corners. Conservative,
        and never smaller for a box that contains another.

        Parameters
        ----------
        boxes : [N, 2, 3] finite, least and largest corner, world space.
        where : bool [N], leaves out further boxes.
        """
        boxes = checked_boxes(boxes)
        where = np.ones(len(boxes), np.bool_) if where is None else np.asarray(where, np.bool_)
        if not self.is_perspective:
            return np.where(where & boxes_in_frustum(boxes, self._plane_rows), self._scale * self.focal_pixels, 0.0)
        lens = self._lens
        in_view = where & (boxes_to_frustum(boxes, where, self._plane_rows) == 0.0)
        return boxes_pixels_per_unit(boxes, in_view, lens)

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
        boxes = checked_boxes(boxes)
        where = np.ones(len(boxes), np.bool_) if where is None else np.asarray(where, np.bool_)
        apart = boxes_to_frustum(boxes, where, self._plane_rows)
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
