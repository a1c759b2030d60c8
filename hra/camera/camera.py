"""Pinhole and orthographic cameras: what a mesh or texture metric needs to know about the view.

Where points appear on the screen, and where to put a camera that looks at a box, stand below the class.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from hra.caching import cached_property
from hra.camera import matrices
from hra.camera.view_bounds import ViewBounds, checked_points


@final
@dataclass(frozen=True, eq=False)
class Camera(ViewBounds):
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
        object.__setattr__(self, "viewport", matrices.viewport_size(self.viewport))
        object.__setattr__(self, "view", matrices.view_matrix(self.view))
        object.__setattr__(self, "projection", matrices.projection_matrix(self.projection))

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
        width, height = matrices.viewport_size(viewport)
        angle = matrices.field_of_view(vertical_fov_degrees)
        near = matrices.positive("near", near)
        far = matrices.far_distance(near, far)
        matrix = matrices.perspective_matrix(angle, width / height, near, far, reversed_depth)
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
        width, pixels_high = matrices.viewport_size(viewport)
        height = matrices.positive("height", height)
        near = matrices.number("near", near)
        far = matrices.far_distance(near, matrices.number("far", far))
        matrix = matrices.orthographic_matrix(height, width / pixels_high, near, far, reversed_depth)
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
        # All is checked here, once; what follows from it is finite, and the class checks the matrices.
        width, height = matrices.viewport_size(viewport)
        angle = matrices.field_of_view(vertical_fov_degrees)
        low, high = matrices.bounding_box(bounds)
        turn, tilt = matrices.radians("azimuth", azimuth), matrices.radians("elevation", elevation)
        pole = matrices.direction("up", up)
        distance = None if distance is None else matrices.positive("distance", distance)
        center, radius = low + (high - low) / 2, math.hypot(*(high - low)) / 2
        radius = radius or 1.0  # a single point is shown as though it were a unit sphere
        if distance is None:
            narrower = math.atan(math.tan(math.radians(angle) / 2) * min(1.0, width / height))
            distance = radius / math.sin(narrower)
        # Half-way to the sphere from outside; from inside the near plane must still be ahead of the eye.
        near = max((distance - radius) / 2, radius / 1000)
        outward, above = matrices.orbit_axes(turn, tilt, pole)
        projection = matrices.perspective_matrix(angle, width / height, near, math.inf, reversed_depth)
        return cls(matrices.look_at(center + distance * outward, center, above), projection, (width, height))

    @cached_property
    def position(self) -> np.ndarray:
        """The eye in world space [3] float64."""
        position = -np.linalg.solve(self.view[:3, :3], self.view[:3, 3])
        position.flags.writeable = False
        return position

    def project(self, points: Any) -> ProjectedPoints:
        """Screen positions and depths of points [N, 3] in world space.

        Points nearer than the near plane, or behind the eye, are not ``in_front`` and get the finite pixel that they
        would have if moved along the view direction to the near plane. ArrayError for another shape.
        """
        checked = checked_points("points", points)
        return project_points(checked, self.view, self.projection, self.viewport, self.near)

    def seen_from(self, placement: Any) -> Camera:
        """The same camera in the coordinates of an object that ``placement`` [4, 4] puts into the world.

        Bounds and errors of the object then need not be moved. It may mirror and scale, see the class.

        Raises
        ------
        CameraError : not [4, 4], not finite, not affine, or singular.
        """
        view = self.view @ matrices.view_matrix(placement, "placement")
        view.flags.writeable = False
        # Scenes make a camera for each of thousands of objects: what follows from the projection is not found again.
        kept = ("projection", "viewport", "near", "focal_pixels", "_corner_cosine")
        result = object.__new__(Camera)
        result.__dict__.update({name: getattr(self, name) for name in kept}, view=view)
        return result


def _look_at(eye: Any, target: Any, up: Any) -> np.ndarray:
    named = {"eye": eye, "target": target, "up": up}
    return matrices.look_at(*(matrices.numeric(name, value, (3,)) for name, value in named.items()))


class ProjectedPoints(NamedTuple):
    """Where points appear.

    Attributes
    ----------
    pixels : [N, 2] float64, x to the right and y downwards from the upper left corner of the viewport.
    depth : [N] float64, distance in eye units along the view direction, negative behind the eye.
    in_front : [N] bool, whether the point is not nearer than the near plane.
    """

    pixels: np.ndarray
    depth: np.ndarray
    in_front: np.ndarray


def project_points(
    points: np.ndarray, view: np.ndarray, projection: np.ndarray, viewport: tuple[int, int], near: float
) -> ProjectedPoints:
    """Screen positions of points [N, 3]; those before the near plane are moved onto it along the view direction."""
    eye = points @ view[:3, :3].T + view[:3, 3]
    depth = -eye[:, 2]
    # A point on the near plane stays in front although its depth is rounded.
    in_front = depth >= near - 1e-12 * abs(near)
    shown = np.column_stack([eye[:, :2], -np.maximum(depth, near)])
    clip = shown @ projection[:2, :3].T + projection[:2, 3]
    w = shown[:, 2:] * projection[3, 2] + projection[3, 3]
    return ProjectedPoints((1 + clip / w * (1, -1)) * viewport / 2, depth, in_front)
