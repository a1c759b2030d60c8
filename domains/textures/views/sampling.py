"""Bilinear interpolation within a page: no texel of another page is needed."""

from __future__ import annotations

import numpy as np

from hra.domains.textures.pages import MipLevel, texels_of_page

# Two neighbouring texels [n] along one axis, and the weight [n] of the second.
Neighbours = tuple[np.ndarray, np.ndarray, np.ndarray]


def neighbours(position: np.ndarray, size: int, level_size: int, cell: int, level: int) -> Neighbours:
    """The texels of a level around positions [n] of level 0 along one axis, within one page.

    Parameters
    ----------
    size, level_size : texels of level 0 and of ``level`` along the axis.
    cell : side of a page in texels.
    """
    page = position.astype(np.int64) // cell >> level
    centred = position * (level_size / size) - 0.5
    before = np.floor(centred).astype(np.int64)
    first, last = texels_of_page(page, cell, level_size)
    weight = (centred - before).astype(np.float32)
    return np.clip(before, first, last), np.clip(before + 1, first, last), weight


def bilinear(mip: MipLevel, along_y: Neighbours, along_x: Neighbours) -> np.ndarray:
    """Interpolated texels [..., C] of a level [H, W, C]; the indices and weights along both axes are broadcast."""
    (top, bottom, down), (left, right, across) = along_y, along_x
    down, across = down[..., None], across[..., None]
    upper = mip[top, left] * (1 - across) + mip[top, right] * across
    lower = mip[bottom, left] * (1 - across) + mip[bottom, right] * across
    return upper * (1 - down) + lower * down
