"""Points on the screen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


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
