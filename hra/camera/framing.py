"""A camera that fills its picture with an object, from a given side.

`is_centred` tells cameras that look straight ahead.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hra.camera import matrices
from hra.camera.camera import Camera
from hra.camera.view_bounds import checked_points

# Share of the picture's half that the object may take on either side.
_FILLED = 0.94


def fit_camera(
    points: Any,
    azimuth: float = 0.0,
    elevation: float = 0.0,
    *,
    up: Any = (0, 1, 0),
    vertical_fov_degrees: float = 60,
    viewport: tuple[int, int] = (1920, 1080),
) -> Camera:
    """The nearest camera on one side of ``points`` [N, 3] that sees all of them, with a margin, in its middle.

    The spheres that `Camera.orbit` fits are the same from all sides, and leave much of the picture empty.

    Parameters
    ----------
    azimuth, elevation, up, vertical_fov_degrees, viewport : as for `Camera.orbit`.

    Raises
    ------
    CameraError : no such camera.
    ArrayError : not points.
    """
    width, height = matrices.viewport_size(viewport)
    at = checked_points("points", points)
    turn, tilt = (
        math.radians(matrices.number("azimuth", azimuth)),
        math.radians(matrices.number("elevation", elevation)),
    )
    outward, above = matrices.orbit_axes(turn, tilt, matrices.direction("up", up))
    across = np.cross(above, outward)
    middle = (at.min(axis=0) + at.max(axis=0)) / 2
    x, y, z = ((at - middle) @ axis for axis in (across, above, outward))
    slope = math.tan(math.radians(matrices.field_of_view(vertical_fov_degrees)) / 2) * _FILLED
    side, to_side = _fit_axis(x, z, slope * width / height)
    lift, to_lift = _fit_axis(y, z, slope)
    depth = float(np.ptp(z))
    # A single point is shown as though it were a unit sphere, and what lies in one plane from a little before it.
    distance = max(to_side, to_lift, float(z.max()) + depth / 100) or 2.0
    target = middle + side * across + lift * above
    near = max((distance - float(z.max())) / 2, distance / 1000)
    lens = {"vertical_fov_degrees": vertical_fov_degrees, "viewport": viewport, "near": near}
    return Camera.perspective(target + distance * outward, target, above, **lens)


def _fit_axis(offset: np.ndarray, toward: np.ndarray, slope: float) -> tuple[float, float]:
    """Where along one axis to look, and from how far, so that ``|offset - it| <= slope * (distance - toward)``."""
    most, least = float((offset + slope * toward).max()), float((offset - slope * toward).min())
    return (most + least) / 2, (most - least) / (2 * slope)


def is_centred(camera: Camera) -> bool:
    """Whether a camera turns and moves only, looks through the middle of its picture and has square pixels."""
    turn, matrix = camera.view[:3, :3], camera.projection
    aspect = camera.viewport[0] / camera.viewport[1]
    return bool(
        np.allclose(turn @ turn.T, np.eye(3), atol=1e-6)
        and np.linalg.det(turn) > 0
        and np.allclose(matrix[0, 1:3], 0)
        and np.allclose(matrix[1, [0, 2]], 0)
        and math.isclose(matrix[0, 0] * aspect, matrix[1, 1], rel_tol=1e-3)
    )
