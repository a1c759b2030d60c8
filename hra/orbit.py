"""Where to put a camera that looks at a box."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from hra import camera_checks


class Placement(NamedTuple):
    """Eye, target and up vector [3] each, and a distance of the near plane that leaves the box whole."""

    eye: np.ndarray
    target: np.ndarray
    up: np.ndarray
    near: float


def orbit_placement(bounds: Any, azimuth: Any, elevation: Any, distance: Any, half_fov: float) -> Placement:
    """A place on a sphere around a box [2, 3]; angles in degrees, ``half_fov`` the narrower half angle in radians.

    Raises
    ------
    CameraError : bounds that are not finite or reversed, an angle that is not finite, a distance <= 0.
    """
    low, high = camera_checks.bounding_box(bounds)
    center = low + (high - low) / 2
    radius = math.hypot(*(high - low)) / 2 or 1.0  # a single point is shown as though it were a unit sphere
    distance = radius / math.sin(half_fov) if distance is None else camera_checks.positive("distance", distance)
    outward, up = _orbit_axes(camera_checks.number("azimuth", azimuth), camera_checks.number("elevation", elevation))
    # Half-way to the sphere from outside; from inside the near plane must still be ahead of the eye.
    near = max((distance - radius) / 2, radius / 1000)
    return Placement(center + distance * outward, center, up, near)


def _orbit_axes(azimuth: float, elevation: float) -> tuple[np.ndarray, np.ndarray]:
    turn, tilt = math.radians(azimuth), math.radians(elevation)
    around = np.array([math.sin(turn), 0.0, math.cos(turn)])
    pole = np.array([0.0, 1.0, 0.0])
    return math.cos(tilt) * around + math.sin(tilt) * pole, math.cos(tilt) * pole - math.sin(tilt) * around
