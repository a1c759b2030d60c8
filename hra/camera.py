"""Pinhole and orthographic cameras: what a mesh or texture metric needs to know about the view."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from hra import camera_checks
from hra.arrays import frozen
from hra.orbit import orbit_placement
from hra.point_projection import ProjectedPoints, project_points
from hra.projection import (
    depth_slope,
    frustum_planes,
    look_at,
    near_corners,
    orthographic_matrix,
    perspective_matrix,
)
from hra.sphere_projection import Lens, rows, spheres_in_frustum, spheres_pixels_per_unit, visible_pixels_per_unit


@final
@dataclass(frozen=True, eq=False)
class Camera:
    """A camera as two matrices and a viewport, in OpenGL's conventions: right-handed world, view along -Z.

    Depth in clip space is [-w, w] from near to far or, where it falls with the distance (reversed depth), [0, w] from
    far to near. Infinite far planes work with both. A standard [0, w] matrix (Direct3D, Vulkan) is read as [-w, w],
    which puts the near plane at about half its distance and is conservative.

    The view may mirror and scale. Where lengths matter, its largest singular value counts: an upper bound.

    Parameters
    ----------
    view : [4, 4] world to eye, affine and invertible.
    projection : [4, 4] eye to clip space; kept as a multiple whose w is -z (perspective) or 1 (orthographic).
    viewport : (width, height) in whole pixels.

    Raises
    ------
    CameraError : matrices that are not finite, singular or of another form; a viewport without pixels.

    Examples
    --------
    >>> from hra import Camera
    >>> camera = Camera.perspective(eye=(0, 0, 5), target=(0, 0, 0), viewport=(640, 480))
    >>> camera.project([[0, 0, 0]]).pixels.tolist()
    [[320.0, 240.0]]
    """

    view: np.ndarray
    projection: np.ndarray
    viewport: tuple[int, int]

    def __post_init__(self) -> None:
        object.__setattr__(self, "viewport", camera_checks.viewport_size(self.viewport))
        object.__setattr__(self, "view", frozen(camera_checks.view_matrix(self.view)))
        object.__setattr__(self, "projection", frozen(camera_checks.projection_matrix(self.projection)))

    @classmethod
    def from_matrices(cls, view: Any, projection: Any, viewport: tuple[int, int]) -> Camera:
        """A camera from the matrices of another program; parameters and errors as in the class."""
        return cls(view, projection, viewport)

    @classmethod
    def perspective(
        cls,
        eye: Any,
        target: Any,
        up: Any = (0, 1, 0),
        *,
        vertical_fov_degrees: float = 60,
        viewport: tuple[int, int] = (1920, 1080),
        near: float = 0.1,
        far: float = math.inf,
        reversed_depth: bool = False,
    ) -> Camera:
        """A pinhole camera at ``eye`` [3] that looks at ``target`` [3]; ``near`` and ``far`` in world units.

        Raises
        ------
        CameraError : a field of view outside 0 .. 180, near <= 0, far <= near, eye equal to target, or ``up`` along the
            view direction.
        """
        width, height = camera_checks.viewport_size(viewport)
        angle = camera_checks.field_of_view(vertical_fov_degrees)
        near = camera_checks.positive("near", near)
        far = camera_checks.far_distance(near, far)
        matrix = perspective_matrix(angle, width / height, near, far, reversed_depth)
        return cls(_look_at(eye, target, up), matrix, (width, height))

    @classmethod
    def orthographic(
        cls,
        eye: Any,
        target: Any,
        up: Any = (0, 1, 0),
        *,
        height: float,
        far: float,
        near: float = 0.0,
        viewport: tuple[int, int] = (1920, 1080),
        reversed_depth: bool = False,
    ) -> Camera:
        """A parallel projection that shows ``height`` world units from top to bottom; ``near`` may be negative.

        Raises
        ------
        CameraError : height <= 0, far <= near or infinite, eye equal to target, or ``up`` along the view direction.
        """
        width, pixels_high = camera_checks.viewport_size(viewport)
        height = camera_checks.positive("height", height)
        near = camera_checks.number("near", near)
        far = camera_checks.far_distance(near, camera_checks.number("far", far))
        matrix = orthographic_matrix(height, width / pixels_high, near, far, reversed_depth)
        return cls(_look_at(eye, target, up), matrix, (width, pixels_high))

    @classmethod
    def orbit(
        cls,
        bounds: Any,
        azimuth: float = 0.0,
        elevation: float = 0.0,
        distance: float | None = None,
        *,
        up: Any = (0, 1, 0),
        vertical_fov_degrees: float = 60,
        viewport: tuple[int, int] = (1920, 1080),
        reversed_depth: bool = False,
    ) -> Camera:
        """A pinhole camera on a sphere around a box, looking at its centre.

        Parameters
        ----------
        bounds : [2, 3] least and largest corner of the box.
        azimuth : degrees around ``up``; with y up 0 is on the +Z side, with z up on the -Y side, and 90 on the +X side.
        elevation : degrees above the plane across ``up``; 90 looks straight down.
        up : [3], the world's upward direction.
        distance : from the centre of the box, world units; None fits the box's bounding sphere into the viewport.

        Raises
        ------
        CameraError : bounds that are not finite or reversed, an angle that is not finite, a distance <= 0, no
            direction up.
        """
        width, height = camera_checks.viewport_size(viewport)
        half_height = math.tan(math.radians(camera_checks.field_of_view(vertical_fov_degrees)) / 2)
        narrower = math.atan(half_height * min(1.0, width / height))
        placed = orbit_placement(bounds, azimuth, elevation, distance, narrower, up)
        return cls.perspective(
            *placed[:3],
            vertical_fov_degrees=vertical_fov_degrees,
            viewport=viewport,
            near=placed.near,
            reversed_depth=reversed_depth,
        )

    @cached_property
    def position(self) -> np.ndarray:
        """The eye in world space [3] float64."""
        return frozen(-np.linalg.solve(self.view[:3, :3], self.view[:3, 3]))

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
        return float(-near_corners(self.projection)[:, 2].max())

    @cached_property
    def planes(self) -> np.ndarray:
        """The frustum's planes [5 or 6, 4] float64 in world space, unit normals pointing inwards."""
        return frozen(frustum_planes(self.projection @ self.view, self.reversed_depth))

    def project(self, points: Any) -> ProjectedPoints:
        """Screen positions and depths of points [N, 3] in world space.

        Points nearer than the near plane, or behind the eye, are not ``in_front`` and get the finite pixel that they
        would have if moved along the view direction to the near plane. ArrayError for another shape.
        """
        checked = camera_checks.points("points", points)
        return project_points(checked, self.view, self.projection, self.viewport, self.near)

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
        centers, radii = camera_checks.spheres(centers, radii)
        if not self.is_perspective:
            return np.full(len(radii), self._scale * self._focal_pixels)
        return spheres_pixels_per_unit(centers, radii, self._lens)

    def spheres_visible(self, centers: Any, radii: Any) -> np.ndarray:
        """Whether spheres may be in view, [N] bool: conservative, some near the frustum's edges are kept in vain.

        Parameters as in `pixels_per_unit`.
        """
        return spheres_in_frustum(*camera_checks.spheres(centers, radii), rows(self.planes))

    def visible_pixels_per_unit(self, centers: Any, radii: Any, where: Any = None) -> np.ndarray:
        """`pixels_per_unit` of the spheres that may be in view, 0 for the others, in one pass over [N] spheres.

        Parameters as in `pixels_per_unit`; ``where`` bool [N] leaves out further spheres.
        """
        centers, radii = camera_checks.spheres(centers, radii)
        where = np.ones(len(radii), np.bool_) if where is None else np.asarray(where, np.bool_)
        if not self.is_perspective:
            return np.where(where & self.spheres_visible(centers, radii), self.pixels_per_unit(centers, radii), 0.0)
        return visible_pixels_per_unit(centers, radii, where, self._lens, rows(self.planes))

    @cached_property
    def _lens(self) -> Lens:
        x, y, z = rows(self.view[:3])
        return Lens(x, y, z, self._scale, self._focal_pixels, float(self.near), self._corner_cosine)

    @cached_property
    def _scale(self) -> float:
        return float(np.linalg.norm(self.view[:3, :3], 2))

    @cached_property
    def _focal_pixels(self) -> float:
        half_viewport = np.array(self.viewport)[:, None] / 2
        return float(np.linalg.norm(half_viewport * self.projection[:2, :2], 2))

    @cached_property
    def _corner_cosine(self) -> float:
        corners = near_corners(self.projection)
        return float((-corners[:, 2] / np.linalg.norm(corners, axis=1)).min())


def _look_at(eye: Any, target: Any, up: Any) -> np.ndarray:
    named = {"eye": eye, "target": target, "up": up}
    return look_at(*(camera_checks.numeric(name, value, (3,)) for name, value in named.items()))
