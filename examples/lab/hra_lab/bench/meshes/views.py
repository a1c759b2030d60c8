"""Cameras of the rows that cut."""

from __future__ import annotations

import numpy as np

from hra.camera import Camera

# Degrees between the views of two rounds: far apart, or like successive frames.
JUMP, STEP = 137.5, 0.2
# Of the longest side: part of the mesh is out of view, and what is near needs more than what is far.
_DISTANCE = 0.9


def camera_at(bounds: np.ndarray, degrees: float) -> Camera:
    """A place around the mesh, near enough that distances differ."""
    distance = _DISTANCE * float(np.ptp(bounds, axis=0).max())
    return Camera.orbit(bounds, azimuth=30 + degrees, elevation=15, distance=distance)
