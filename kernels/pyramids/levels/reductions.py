"""The ways to reduce pixels to one coarser pixel, and the sizes that halving gives.

Light is averaged by the sRGB transfer function, which leaves alpha alone. Source: IEC 61966-2-1, with the constants of
the standard. Negative numbers are mirrored and numbers above 1 follow the same power, as in extended sRGB (Annex G), so
that no value is clipped.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

Reduce = Literal["mean", "max", "min", "srgb_mean", "block_mean"]
REDUCTIONS: tuple[Reduce, ...] = ("mean", "max", "min", "srgb_mean", "block_mean")
# 0.04045 is the encoded and 0.04045 / 12.92 the linear value where the straight piece ends.
_ENCODED_KNEE, _SLOPE, _OFFSET, _GAMMA = 0.04045, 12.92, 0.055, 2.4
_LINEAR_KNEE = _ENCODED_KNEE / _SLOPE
# Bins per byte of linear light: more than the slope, so that no bin holds two thresholds.
BINS_PER_STEP = 16


def to_linear(encoded: np.ndarray) -> np.ndarray:
    """Linear light of sRGB values, both 1.0 for white; of the same floating dtype."""
    size = np.abs(encoded)
    curved = ((size + _OFFSET) / (1 + _OFFSET)) ** _GAMMA
    return np.copysign(np.where(size <= _ENCODED_KNEE, size / _SLOPE, curved), encoded)


def to_srgb(linear: np.ndarray) -> np.ndarray:
    """The inverse of :func:`to_linear`."""
    size = np.abs(linear)
    curved = (1 + _OFFSET) * size ** (1 / _GAMMA) - _OFFSET
    return np.copysign(np.where(size <= _LINEAR_KNEE, size * _SLOPE, curved), linear)


def colors(channels: int) -> int:
    """How many channels are colours: of 2 (grey, alpha) and of 4 (red, green, blue, alpha) all but the last."""
    return channels - 1 if channels in (2, 4) else channels


def byte_tables() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tables for images of bytes; their linear light is 255 for white, so that alpha needs no scale.

    Returns
    -------
    linear : [256] float32, the linear light of every byte.
    thresholds : [257] float32, the least linear light that rounds to each byte, and infinity last.
    first : [255 * BINS_PER_STEP + 1] uint8, the byte of the least linear light in each bin.
    """
    steps = np.arange(256)
    linear = 255 * to_linear(steps / 255)
    thresholds = np.append(255 * to_linear(np.maximum(steps - 0.5, 0) / 255), np.inf).astype(np.float32)
    bins = np.arange(255 * BINS_PER_STEP + 1) / BINS_PER_STEP
    first = np.searchsorted(thresholds, bins, side="right") - 1
    return linear.astype(np.float32), thresholds, first.astype(np.uint8)


def identity(reduce: Reduce, dtype: np.dtype) -> float:
    """The maximum (minimum) of no pixel at all: the lowest (highest) value of the dtype, -inf (inf) for floats."""
    if dtype.kind == "f":
        return -np.inf if reduce == "max" else np.inf
    limits = np.iinfo(dtype)
    return limits.min if reduce == "max" else limits.max
