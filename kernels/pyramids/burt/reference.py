"""REDUCE and EXPAND of Burt and Adelson in plain NumPy, by the definition. Levels are [B, H, W, C] float32."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.kernels.pyramids.levels.pyramid import Layout

_WEIGHTS = np.array([1, 4, 6, 4, 1]) / 16


def place(image: np.ndarray, layout: Layout) -> np.ndarray:
    """A new flat buffer, float32, whose level 0 is the image."""
    data = np.empty(layout.size, np.float32)
    data[: image.size].reshape(image.shape)[...] = image
    return data


def copy(data: np.ndarray) -> np.ndarray:
    """A copy of the flat buffer."""
    return data.copy()


def reduce_level(source: np.ndarray, target: np.ndarray) -> None:
    """Write every second pixel of the blurred ``source`` to ``target``."""
    target[...] = _blur(_blur(source.astype(np.float64), 1), 2)[:, ::2, ::2]


def add_expanded(coarse: np.ndarray, fine: np.ndarray, sign: float) -> None:
    """Add ``sign`` times the expanded ``coarse`` to ``fine``."""
    zeros_between = np.zeros(fine.shape)
    zeros_between[:, ::2, ::2] = coarse
    # Twice per axis, because half of the pixels are zero; an axis of one pixel has no zeros.
    scale = np.prod([2 if size > 1 else 1 for size in fine.shape[1:3]])
    fine += (sign * scale * _blur(_blur(zeros_between, 1), 2)).astype(np.float32)


def _blur(values: np.ndarray, axis: int) -> np.ndarray:
    border: list[Any] = [(0, 0)] * values.ndim
    border[axis] = (2, 2)
    padded = np.moveaxis(np.pad(values, border, mode="reflect"), axis, 0)
    count = values.shape[axis]
    blurred = sum(weight * padded[k : k + count] for k, weight in enumerate(_WEIGHTS))
    return np.moveaxis(np.asarray(blurred), 0, axis)
