"""Recorded camera paths around a mesh: an approach, a pass close to the surface, a jump, and the way back."""

from __future__ import annotations

import numpy as np

from hra.camera import Camera

_VIEWPORT = (1280, 720)


def mesh_path(bounds: np.ndarray, frames: int) -> list[Camera]:
    """The same path for every mesh, scaled to its ``bounds`` [2, 3].

    The first half comes nearer in a spiral, then the camera jumps to the other side, stays close to the surface, and
    leaves.
    """
    middle, extent = bounds.mean(axis=0), np.ptp(bounds, axis=0)
    reach = float(np.linalg.norm(extent))
    return [_camera(middle, extent, reach, k / max(frames - 1, 1)) for k in range(frames)]


def _camera(middle: np.ndarray, extent: np.ndarray, reach: float, t: float) -> Camera:
    near = t < 0.5
    angle = 2.2 * np.pi * t + (0 if near else np.pi)
    distance = reach * (1.4 - 2.0 * t if near else 0.35 + 1.6 * max(t - 0.75, 0))
    way = np.array([np.cos(angle), np.sin(angle), 0.35 * np.sin(3 * angle)])
    target = middle + 0.25 * extent * np.array([np.cos(2 * angle), np.sin(2 * angle), np.sin(angle)])
    return Camera.perspective(target + distance * way / np.linalg.norm(way), target, up=(0, 0, 1), viewport=_VIEWPORT)
