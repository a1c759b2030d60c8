"""Seeded images, depth buffers and rectangles that kernels are timed on; real where possible."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hra_lab.inputs import pictures

# The camera before which walls and boxes stand, metres.
NEAR, FAR = 0.1, 100.0
# Pixels that an image turns by from round to round, so that no round sees the same numbers in the same places.
_STEP = 17
_WALLS = 300
_NEAREST_WALL, _FARTHEST_WALL = 5.0, 50.0


def images(side: int, channels: int, dtype: type) -> Callable[[int], np.ndarray]:
    """The Earth map [side, side, channels] of every round, float32 in 0 .. 1 or uint8.

    The second to fourth channel are the map turned by a quarter, a half and three quarters.
    """
    grey = pictures.square(side).astype(np.float32)
    base = np.stack([np.rot90(grey, turn) for turn in range(channels)], axis=-1)
    if dtype is np.uint8:
        base = np.round(255 * base).astype(np.uint8)
    return lambda number: np.roll(base, _STEP * number, axis=1)


def depths(height: int) -> Callable[[int], np.ndarray]:
    """The depth [height, 16 / 9 height, 1] of every round, float32: walls of all sizes before an empty background."""
    width = 16 * height // 9
    rng = np.random.default_rng(4)
    base = np.ones((height, width, 1), np.float32)
    distance = np.exp(rng.uniform(np.log(_NEAREST_WALL), np.log(_FARTHEST_WALL), _WALLS))
    depth = (FAR * (distance - NEAR) / ((FAR - NEAR) * distance)).astype(np.float32)
    for (x0, y0, x1, y1), wall in zip(_rectangles(rng, _WALLS, height, width, height / 2), depth, strict=True):
        behind = base[y0 : y1 + 1, x0 : x1 + 1]
        np.minimum(behind, wall, out=behind)
    return lambda number: np.roll(base, _STEP * number, axis=1)


def perspective(height: int, width: int) -> np.ndarray:
    """The matrix [4, 4] of a camera that looks along +z with 60 degrees from top to bottom; depth is 0 to 1."""
    focal = 1 / np.tan(np.radians(30))
    matrix = np.zeros((4, 4))
    matrix[0, 0], matrix[1, 1], matrix[3, 2] = focal * height / width, focal, 1.0
    matrix[2, 2:] = FAR / (FAR - NEAR), -NEAR * FAR / (FAR - NEAR)
    return matrix


def boxes(count: int, seed: int) -> np.ndarray:
    """Low and high corners [count, 2, 3] float32 of boxes all around the camera's view, 0.1 to 3 metres a side."""
    rng = np.random.default_rng(seed)
    low = rng.uniform([-40, -25, -5], [40, 25, 95], (count, 3))
    return np.stack([low, low + np.exp(rng.uniform(np.log(0.1), np.log(3.0), (count, 3)))], axis=1).astype(np.float32)


def rectangles(count: int, height: int, width: int, seed: int, largest: float = 256.0) -> np.ndarray:
    """Rectangles [count, 4] as int32 x0, y0, x1, y1 in an image, of up to ``largest`` pixels, most of them small."""
    return _rectangles(np.random.default_rng(seed), count, height, width, largest)


def relevance(images: int, side: int) -> Callable[[int], np.ndarray]:
    """Maps [images, side, side, 1] of every round, float32: patches of the shipped images."""
    base = np.stack(pictures.crops(images, side))[..., None].astype(np.float32)
    return lambda number: np.roll(base, _STEP * number, axis=2)


def surface_points(count: int) -> Callable[[int], np.ndarray]:
    """Points [count, 3] float32 of every round, at random places on the terrain whose heights are the Earth map's."""
    side = 1024
    heights = pictures.square(side)

    def points(number: int) -> np.ndarray:
        place = np.random.default_rng(number).random((count, 2))
        x, y = (place * side).astype(np.int64).T
        return np.column_stack([place, 0.05 * heights[y, x]]).astype(np.float32)

    return points


def _rectangles(rng: np.random.Generator, count: int, height: int, width: int, largest: float) -> np.ndarray:
    first = rng.integers(0, [width, height], (count, 2))
    sides = np.exp(rng.uniform(0, np.log(largest), (count, 2))).astype(np.int64)
    last = np.minimum(first + sides, [width, height]) - 1
    return np.hstack([first, last]).astype(np.int32)
