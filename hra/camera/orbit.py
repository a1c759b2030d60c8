"""Where to put a camera that looks at a box."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from hra.camera import checks


class Placement(NamedTuple):
    """Eye, target and up vector [3] each, and a distance of the near plane that leaves the box whole."""

    eye: np.ndarray
    target: np.ndarray
    up: np.ndarray
    near: float


def orbit_placement(bounds: Any, azimuth: Any, elevation: Any, distance: Any, half_fov: float, pole: Any) -> Placement:
    """A place on a sphere around a box [2, 3]; angles in degrees, ``half_fov`` the narrower half angle in radians.

    Raises
    ------
    CameraError : bounds that are not finite or reversed, an angle that is not finite, a distance <= 0, no direction up.
    """
    low, high = checks.bounding_box(bounds)
    center = low + (high - low) / 2
    radius = math.hypot(*(high - low)) / 2 or 1.0  # a single point is shown as though it were a unit sphere
    distance = radius / math.sin(half_fov) if distance is None else checks.positive("distance", distance)
    turn, tilt = (math.radians(checks.number(*angle)) for angle in (("azimuth", azimuth), ("elevation", elevation)))
    outward, up = orbit_axes(turn, tilt, checks.direction("up", pole))
    # Half-way to the sphere from outside; from inside the near plane must still be ahead of the eye.
    near = max((distance - radius) / 2, radius / 1000)
    return Placement(center + distance * outward, center, up, near)


def orbit_axes(turn: float, tilt: float, pole: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Direction from the target to the eye and the view's up vector, [3] each; angles in radians."""
    # The quarter turn that takes +Y to +Z takes +Z to -Y: so "in front" is +Z where y is up and -Y where z is up.
    front = np.array([0.0, 0.0, 1.0]) if abs(pole[2]) < 0.999 else np.array([0.0, -1.0, 0.0])
    front -= (front @ pole) * pole
    front /= np.linalg.norm(front)
    around = math.cos(turn) * front + math.sin(turn) * np.cross(pole, front)
    return math.cos(tilt) * around + math.sin(tilt) * pole, math.cos(tilt) * pole - math.sin(tilt) * around
