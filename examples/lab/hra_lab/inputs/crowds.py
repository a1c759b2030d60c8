"""Copies that stand anywhere, turned, stretched and mirrored, and that move; cameras among and inside of them."""

from __future__ import annotations

import numpy as np

from hra.camera import Camera


def crowd(count: int, seed: int, moment: float = 0.0) -> np.ndarray:
    """Placements [count, 4, 4] in a cube of side 10; ``moment`` turns and shifts them, each in its own way."""
    random = np.random.default_rng(seed)
    linear = np.linalg.qr(random.normal(size=(count, 3, 3)))[0] * random.uniform(0.3, 1.2, (count, 1, 3))
    linear[:, :, 0] *= random.choice([-1, 1], (count, 1))  # some are mirrored
    angle, speed = moment * random.uniform(-1, 1, count), random.uniform(-0.5, 0.5, (count, 3))
    turn = np.zeros((count, 3, 3))
    turn[:, 0, 0] = turn[:, 1, 1] = np.cos(angle)
    turn[:, 0, 1], turn[:, 1, 0], turn[:, 2, 2] = -np.sin(angle), np.sin(angle), 1
    placements = np.tile(np.eye(4), (count, 1, 1))
    placements[:, :3, :3], placements[:, :3, 3] = turn @ linear, random.uniform(0, 10, (count, 3)) + moment * speed
    return placements


def wander(frames: int, seed: int, viewport: tuple[int, int], reversed_depth: bool = False) -> list[Camera]:
    """Cameras on a smooth path through the cube, with a jump every twenty frames."""
    random = np.random.default_rng(seed)
    cameras, place, way = [], np.zeros(3), np.zeros(3)
    for k in range(frames):
        if k % 20 == 0:
            place, way = random.uniform(-2, 12, 3), random.normal(size=3) * 0.2
        place = place + way
        target = np.array([5, 5, 5]) + 3 * np.sin(k / 11 + np.arange(3))
        lens = {"viewport": viewport, "near": 0.05, "reversed_depth": reversed_depth}
        cameras.append(Camera.perspective(place, target, up=(0, 1, 0.1), **lens))
    return cameras
