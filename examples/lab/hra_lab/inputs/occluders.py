"""A scene of small occluders: nothing hides much by itself, most is hidden by many things together."""

from __future__ import annotations

import numpy as np

from hra.camera import Camera

# Corners of a box by the bits of their number, and two triangles per side.
_SIDES = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
_TRIANGLES = np.concatenate([_SIDES[:, [0, 1, 2]], _SIDES[:, [0, 2, 3]]])
_NEAREST, _FARTHEST = 4.0, 94.0


def small_occluders(camera: Camera, count: int = 6000, seed: int = 0) -> np.ndarray:
    """Axis-aligned boxes [count, 2, 3] float32 that fill the frustum of a perspective camera at the origin along -Z.

    Distances lie in 4 .. 94 and are denser far away; half sides grow with the distance, from 0.02 to 1 units.

    Parameters
    ----------
    camera : its projection alone counts.
    """
    rng = np.random.default_rng(seed)
    distance = _NEAREST + (_FARTHEST - _NEAREST) * rng.random(count) ** 0.6
    half_frustum = distance[:, None] / np.diag(camera.projection)[:2]
    center = np.column_stack([rng.uniform(-1, 1, (count, 2)) * half_frustum, -distance])
    half_side = (0.02 + 0.5 * rng.random((count, 3)) ** 2) * (0.3 + distance[:, None] / 60)
    return np.stack([center - half_side, center + half_side], axis=1).astype(np.float32)


def box_triangles(boxes: np.ndarray) -> np.ndarray:
    """The surfaces of boxes [K, 2, 3] as triangles [12 K, 3, 3], twelve per box, one box after the other."""
    number = np.arange(8)
    corner = np.stack([boxes[:, number >> axis & 1, axis] for axis in range(3)], axis=-1)
    return corner[:, _TRIANGLES].reshape(-1, 3, 3)
