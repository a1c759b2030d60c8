"""Cells, what a texture array has channels of: means over them, and their grid."""

from __future__ import annotations

import numpy as np

from hra.domains.tokens.context.blocks import block_means


def square_means(pixels: np.ndarray, cell: int) -> np.ndarray:
    """Mean of [H, W, ...] over cells of ``cell`` pixels, float32 [ceil(H/cell), ceil(W/cell), ...]."""
    if cell == 1:  # summing runs of one pixel takes as long as any other
        return pixels.astype(np.float32, copy=False)
    return block_means(pixels, cell).astype(np.float32)


def no_cells(size: tuple[int, ...], cell: int) -> np.ndarray:
    """Zeros for every cell of an image of ``size`` (height, width), float32."""
    return np.zeros((-(-size[0] // cell), -(-size[1] // cell)), np.float32)
