"""Gains and heights from the shipped images."""

from __future__ import annotations

from functools import cache

import numpy as np

from hra import samples
from hra.files.images import load_image

_NAMES = ("earth.jpg", "photo.jpg", "page.png")


def square(side: int) -> np.ndarray:
    """A grey square [side, side] of the Earth map in 0 .. 1, mirrored where the map is too small."""
    image = _grey("earth.jpg")[:side, image_start(side) :][:, :side]
    missing = [(0, side - length) for length in image.shape]
    return np.pad(image, missing, mode="symmetric")


def image_start(side: int) -> int:
    """First column of the square: the map's middle, which has land."""
    return max(2048 - side // 2, 0)


def crops(count: int, side: int, width: int = 1024) -> list[np.ndarray]:
    """Random crops of the shipped images, ``width`` pixels a side, each averaged to [side, side] patches."""
    rng = np.random.default_rng(2)
    images = [_grey(name) for name in _NAMES]
    return [_patches(_crop(images[i % len(images)], width, rng), side) for i in range(count)]


def split_gains(image: np.ndarray) -> np.ndarray:
    """Squared error that each split of the quadtree of a square image removes, [R] in level and Morton order.

    A split turns one mean into four, which removes the squared distances of the four from it.
    """
    means, area, gains = _morton(image), 1.0, []
    while means.size > 1:
        children = means.reshape(-1, 4)
        means = children.mean(axis=1)
        gains.append(area * np.square(children - means[:, None]).sum(axis=1))
        area *= 4
    return np.concatenate(gains[::-1])


def height_ranges(image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest value under each node of the quadtree of a square image, leaves included, level by level."""
    low = high = _morton(image)
    lows, highs = [low], [high]
    while low.size > 1:
        low, high = low.reshape(-1, 4).min(axis=1), high.reshape(-1, 4).max(axis=1)
        lows.append(low)
        highs.append(high)
    return np.concatenate(lows[::-1]), np.concatenate(highs[::-1])


@cache  # many benchmarks begin with one map, and to decode it takes longer than most of them
def _grey(name: str) -> np.ndarray:
    return load_image(samples.path(name), mode="gray")[..., 0]


def _crop(image: np.ndarray, width: int, rng: np.random.Generator) -> np.ndarray:
    top, left = (rng.integers(0, length - width + 1) for length in image.shape)
    return image[top : top + width, left : left + width]


def _patches(image: np.ndarray, side: int) -> np.ndarray:
    patch = image.shape[0] // side
    return image.reshape(side, patch, side, patch).mean(axis=(1, 3))


def _morton(image: np.ndarray) -> np.ndarray:
    """Pixels of a square image in Morton order, float64: one axis per bit of y and x, alternating."""
    depth = image.shape[0].bit_length() - 1
    order = [axis for bit in range(depth) for axis in (bit, depth + bit)]
    return image.astype(np.float64).reshape((2,) * (2 * depth)).transpose(order).reshape(-1)
