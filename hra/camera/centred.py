"""Cameras that look straight ahead."""

from __future__ import annotations

import math

import numpy as np

from hra.camera.camera import Camera


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
