"""Small scenes and cameras that the texture tests share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hra.camera import Camera
from hra.domains.textures import PlaneScene, TexturedPlane, TiledTexture


@pytest.fixture(scope="session")
def noise() -> Callable[..., np.ndarray]:
    """Random images [height, width, channels]."""

    def image(height: int, width: int, channels: int = 3, seed: int = 0) -> np.ndarray:
        return np.random.default_rng(seed).integers(0, 256, (height, width, channels), np.uint8)

    return image


@pytest.fixture(scope="session")
def scene(noise: Callable[..., np.ndarray]) -> PlaneScene:
    """A ground of odd size and a wall that stands on it, with 8-texel tiles and different textures."""
    ground = TexturedPlane.ground(TiledTexture.from_image(noise(75, 117), tile=8), width=10.0)
    wall = TexturedPlane(
        TiledTexture.from_image(noise(64, 32, seed=1), tile=8),
        origin=np.array([-1.0, 2.0, -1.0]),
        u_axis=np.array([1.5, 0.0, 0.7]),
        v_axis=np.array([0.0, -2.0, 0.0]),
    )
    return PlaneScene([ground, wall])


@pytest.fixture(scope="session")
def camera_of() -> Callable[..., Camera]:
    """Random cameras in and around the scene, perspective or orthographic, with either kind of depth."""

    def camera(seed: int, viewport: tuple[int, int] = (24, 17)) -> Camera:
        random = np.random.default_rng(seed)
        eye, target = random.uniform((-6, 0.1, -5), (6, 5, 5)), random.uniform((-4, -1, -3), (4, 1.5, 3))
        options = {"viewport": viewport, "reversed_depth": bool(random.integers(2)), "far": random.uniform(5, 30)}
        if random.integers(3) == 0:
            return Camera.orthographic(eye, target, height=random.uniform(1, 12), **options)
        return Camera.perspective(eye, target, vertical_fov_degrees=random.uniform(20, 120), near=0.2, **options)

    return camera
