"""Pyramids in a few lines of NumPy: slices of even and odd pixels."""

from __future__ import annotations

import numpy as np

from hra_lab.bench.kernels.levels import coarser_levels, halvings


def mean_levels(image: np.ndarray) -> list[np.ndarray]:
    """The coarser mip levels of a square image [H, W, C] of a power of two, by slices; uint8 is rounded up at ties."""
    step = _mean_of_bytes if image.dtype == np.uint8 else _mean_of_floats
    return coarser_levels(image, step, halvings(image.shape[0]))


def max_levels(image: np.ndarray) -> list[np.ndarray]:
    """The coarser maximum levels of an image [..., H, W, C] of any size, by slices."""
    return coarser_levels(image, _largest_of_four, halvings(*image.shape[-3:-1]))


def _largest_of_four(image: np.ndarray) -> np.ndarray:
    odd = [(0, length % 2) for length in image.shape[-3:-1]]
    image = np.pad(image, [(0, 0)] * (image.ndim - 3) + [*odd, (0, 0)], mode="edge")
    image = np.maximum(image[..., ::2, :, :], image[..., 1::2, :, :])
    return np.maximum(image[..., ::2, :], image[..., 1::2, :])


def _mean_of_floats(image: np.ndarray) -> np.ndarray:
    return (image[::2, ::2] + image[1::2, ::2] + image[::2, 1::2] + image[1::2, 1::2]) * np.float32(0.25)


def _mean_of_bytes(image: np.ndarray) -> np.ndarray:
    total = image[::2, ::2].astype(np.uint16)
    for quarter in (image[1::2, ::2], image[::2, 1::2], image[1::2, 1::2]):
        total += quarter
    total += 2
    return (total >> 2).astype(np.uint8)
