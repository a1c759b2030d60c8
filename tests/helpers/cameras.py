"""Random cameras of every kind, and plain tests of points against them; share no code with the camera's own tests."""

from __future__ import annotations

import math

import numpy as np

from hra.camera import Camera


def unit_vectors(rng: np.random.Generator, count: int) -> np.ndarray:
    vectors = rng.normal(size=(count, 3))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def random_camera(rng: np.random.Generator) -> Camera:
    """Perspective or orthographic, any depth convention, often with a mirrored and unevenly scaled view."""
    viewport = (int(rng.integers(1, 3000)), int(rng.integers(1, 3000)))
    far, flipped = [math.inf, rng.uniform(5, 50)][rng.integers(2)], bool(rng.integers(2))
    eye, target = rng.normal(size=3) * 5, (0.0, 0.0, 0.0)
    if rng.random() < 0.3:
        camera = Camera.orthographic(
            eye, target, height=rng.uniform(1, 9), near=-1, far=20, viewport=viewport, reversed_depth=flipped
        )
    else:
        fov, near = rng.uniform(5, 150), rng.uniform(0.01, 1)
        camera = Camera.perspective(
            eye, target, vertical_fov_degrees=fov, viewport=viewport, near=near, far=far, reversed_depth=flipped
        )
    scale = np.eye(4)
    if rng.random() < 0.5:
        scale[:3, :3] = np.diag(rng.choice([-1, 1], 3) * rng.uniform(0.2, 3, 3))
    return Camera(camera.view @ scale, camera.projection, viewport)


def inside_clip_volume(camera: Camera, points: np.ndarray) -> np.ndarray:
    x, y, z, w = camera.projection @ camera.view @ np.column_stack([points, np.ones(len(points))]).T
    nearest, farthest = (0 * w, w) if camera.reversed_depth else (-w, w)
    return (w > 0) & (np.abs(x) <= w) & (np.abs(y) <= w) & (nearest <= z) & (z <= farthest)


def stretch(camera: Camera, points: np.ndarray) -> np.ndarray:
    """The most pixels that a small unit covers at each point [N]: the norm of the derivative, by the quotient rule."""
    matrix = camera.projection @ camera.view
    clip = np.column_stack([points, np.ones(len(points))]) @ matrix.T
    w = clip[:, 3, None, None]
    derivative = matrix[None, :2, :3] / w - clip[:, :2, None] * matrix[None, None, 3, :3] / w**2
    half = np.array(camera.viewport) / 2
    return np.linalg.norm(half[:, None] * derivative, 2, axis=(1, 2))
