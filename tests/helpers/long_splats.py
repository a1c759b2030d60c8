"""A splat thousands of pixels long and less than one wide, and its picture in float64."""

from __future__ import annotations

import numpy as np

import hra
from hra.domains.points import SplatCloud

# What every splat is blurred by (pixels squared), and what is left out.
BLUR, LEAST = 0.3, 1 / 255


def long_splat(camera: hra.Camera, angle: float, length: float) -> tuple[SplatCloud, np.ndarray]:
    """A blue splat in the origin, so many degrees from the picture's rows, and its picture on white."""
    right, up = camera.view[0, :3], camera.view[1, :3]
    first = np.cos(np.deg2rad(angle)) * right + np.sin(np.deg2rad(angle)) * up
    axes = np.linalg.qr(np.column_stack([first, np.random.default_rng(0).normal(size=(3, 2))]))[0]
    sides = axes * [length, 0.002, 0.002]
    full = sides @ sides.T
    cloud = SplatCloud([[0, 0, 0]], full[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]][None], [[0, 0, 1]], [0.9])
    return cloud, _picture(camera, sides)


def _picture(camera: hra.Camera, sides: np.ndarray) -> np.ndarray:
    """By the sides of the splat and not by their products, float64 [H, W, 3]."""
    width, height = camera.viewport
    near, way = camera.projection @ camera.view @ [0, 0, 0, 1], (camera.projection @ camera.view)[:, :3]
    slope = (way[:2] - near[:2, None] / near[3] * way[3]) / near[3] * [[width / 2], [-height / 2]]
    center = (near[:2] / near[3] * [1, -1] / 2 + 0.5) * [width, height]
    across, down = slope @ sides
    area = (np.cross(across, down) ** 2).sum() + BLUR * (across @ across + down @ down + BLUR)
    u, v = np.arange(width) + 0.5 - center[0], (np.arange(height) + 0.5 - center[1])[:, None]
    xx = across @ across + BLUR
    far = u**2 / xx + (v - across @ down / xx * u) ** 2 * xx / area
    share = 0.9 * np.exp(-far / 2)
    share[share < LEAST] = 0
    return 1 - share[..., None] * [1, 1, 0]


def decibels(picture: np.ndarray, expected: np.ndarray) -> float:
    """Peak signal-to-noise ratio."""
    return float(-10 * np.log10(np.mean((picture - expected) ** 2)))
