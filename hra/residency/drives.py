"""Seeded camera paths over a ground texture: a drive through streets with revisits, and a walk over terrain."""

from __future__ import annotations

import numpy as np

from hra.errors import HraError
from hra.residency import GroundTexture, Trace

# Streets and speed of the residential drive that sequence 00 of KITTI odometry records, at 5 frames per second.
_BLOCK = 90.0
_STREETS = (8, 8)
_STEP = 1.64


def kitti_like(frames: int = 2271, seed: int = 0) -> Trace:
    """A car that drives through a grid of streets and comes by known places again, over a ground of 64 texels/metre.

    The sizes follow a trace made from the poses of KITTI odometry 00 (Geiger et al. 2012): about 364 tiles per frame,
    48,000 tiles and 827,000 references. The path itself is random.

    Raises
    ------
    HraError : no frame.
    """
    random = _random(frames, seed)
    corners = _street_corners(random, int(frames * _STEP * 1.5 / _BLOCK) + 3)
    path = _along(corners, _speeds(random, frames, _STEP))
    return GroundTexture().trace(path, _headings(path))


def terrain_walk(frames: int = 1200, seed: int = 0) -> Trace:
    """A walker who wanders over terrain of 16 texels/metre and looks around; errors as in `kitti_like`."""
    random = _random(frames, seed)
    turn = np.cumsum(_smooth(random.normal(0, 0.05, frames), 15))
    path = np.cumsum(0.5 * np.stack([np.cos(turn), np.sin(turn)], axis=1), axis=0)
    look = turn + np.cumsum(_smooth(random.normal(0, 0.2, frames), 30))
    ground = GroundTexture(texels_per_metre=16.0, near=1.5, far=400.0)
    return ground.trace(path, np.stack([np.cos(look), np.sin(look)], axis=1))


def _random(frames: int, seed: int) -> np.random.Generator:
    if frames < 1:
        raise HraError(f"a path of {frames} frames", where="frames", fix="use 1 or more")
    return np.random.default_rng(seed)


def _street_corners(random: np.random.Generator, count: int) -> np.ndarray:
    """A random walk over crossings that never turns back at once, metres [count, 2]."""
    crossings = [np.array([_STREETS[0] // 2, _STREETS[1] // 2])]
    direction = np.array([1, 0])
    while len(crossings) < count:
        left = np.array([-direction[1], direction[0]])
        choices = [
            d for d in (direction, left, -left) if ((crossings[-1] + d >= 0) & (crossings[-1] + d < _STREETS)).all()
        ]
        direction = choices[random.integers(len(choices))]
        crossings.append(crossings[-1] + direction)
    return np.array(crossings) * _BLOCK


def _along(corners: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Positions [F, 2] after steps [F] along the corners, which are rounded."""
    distance = np.cumsum(step)
    milestones = np.arange(len(corners)) * _BLOCK
    path = np.stack([np.interp(distance, milestones, corners[:, axis]) for axis in range(2)], axis=1)
    return np.stack([_smooth(path[:, axis], 9) for axis in range(2)], axis=1)


def _speeds(random: np.random.Generator, frames: int, mean: float) -> np.ndarray:
    """Steps that vary smoothly around their mean [F]."""
    wave = _smooth(random.normal(0, 1, frames), 45)
    return mean * np.clip(1 + wave, 0.2, 1.8)


def _headings(path: np.ndarray) -> np.ndarray:
    """Directions of a path [F, 2]; where it stands still, that of the frame before."""
    ahead = np.gradient(path, axis=0) if len(path) > 1 else np.ones_like(path)
    moving = np.linalg.norm(ahead, axis=1) > 1e-9
    last = np.maximum.accumulate(np.where(moving, np.arange(len(path)), moving.argmax()))
    return ahead[last]


def _smooth(values: np.ndarray, width: int) -> np.ndarray:
    """Moving average over an odd or even ``width``; the ends repeat."""
    padded = np.pad(values, (width // 2, width - 1 - width // 2), mode="edge")
    return np.convolve(padded, np.full(width, 1 / width), mode="valid")
