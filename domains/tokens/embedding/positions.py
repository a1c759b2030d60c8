"""Where tokens are, as models want it."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from hra.errors import check_choice

PositionKind = Literal["centres", "level_xy", "boxes"]


def positions(
    boxes: np.ndarray, detail: np.ndarray, kind: str, image_size: tuple[int, int], grid: tuple[float, float], patch: int
) -> np.ndarray:
    """Positions of tokens, float32 [K, 2, 3 or 6]; see `hra.domains.tokens.TokenSet.positions`.

    Parameters
    ----------
    boxes : [K, 4], (x0, y0, x1, y1) in pixels; detail : [K], log2 of the pixels along a token's pixel.
    grid : (rows, columns) of the model; patch : side of a token in its own pixels.

    Raises
    ------
    HraError : unknown kind.
    """
    check_choice("kind", kind, get_args(PositionKind))
    corners = boxes.astype(np.float64)
    if kind == "level_xy":
        level = detail.astype(np.float64)[:, None]
        return np.concatenate([level, corners[:, :2] / (patch * 2**level)], axis=1, dtype=np.float32)
    cell = np.array(image_size[::-1]) / np.array(grid[::-1])
    low, high = corners[:, :2] / cell, corners[:, 2:] / cell
    if kind == "centres":
        return ((low + high) / 2 - 0.5).astype(np.float32)
    return np.concatenate([low, high, high - low], axis=1, dtype=np.float32)
