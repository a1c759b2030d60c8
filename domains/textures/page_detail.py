"""How much detail each page adds to what the next coarser level shows."""

from __future__ import annotations

import numpy as np

from hra.domains.textures.pages import StreamedTexture
from hra.domains.textures.views.sampling import bilinear, neighbours


def page_detail(texture: StreamedTexture) -> np.ndarray:
    """Mean squared difference of each page's texels from the next coarser level, interpolated as a view shows it.

    Returns
    -------
    float64 [N], averaged over texels and channels, 0 for the mip tail; uint8 textures count as 0 .. 1.
    """
    pages, detail = texture.pages, np.zeros(texture.pages.bytes.size)
    white = 255.0 if texture.mips[0].dtype == np.uint8 else 1.0
    for level in range(pages.level.max()):
        strips = range(0, texture.mips[level].shape[0], pages.cell)
        sums = np.stack([_squared_band(texture, level, first) for first in strips])
        of_level = np.flatnonzero(pages.level == level)
        texels = pages.height[of_level].astype(np.int64) * pages.width[of_level] * texture.mips[0].shape[2]
        detail[of_level] = sums[pages.y[of_level], pages.x[of_level]] / (texels * white**2)
    return detail


def _squared_band(texture: StreamedTexture, level: int, first: int) -> np.ndarray:
    """Sum of squares of a Laplacian band in each page of the row of pages from row ``first`` on, float64 [GX]."""
    fine, coarse, cell = texture.mips[level], texture.mips[level + 1], texture.pages.cell
    (height, width), texels = texture.mips[0].shape[:2], fine[first : first + cell].astype(np.float32)
    # Positions of the texels' centres in level 0, which `neighbours` asks for.
    y = (np.arange(first, first + len(texels)) + 0.5) * (height / fine.shape[0])
    x = (np.arange(fine.shape[1]) + 0.5) * (width / fine.shape[1])
    above, below, down = (part[:, None] for part in neighbours(y, height, coarse.shape[0], cell, level + 1))
    along_x = neighbours(x, width, coarse.shape[1], cell, level + 1)
    start = int(above[0, 0])
    expanded = bilinear(coarse[start : int(below[-1, 0]) + 1], (above - start, below - start, down), along_x)
    squares = np.square(texels - expanded).sum(axis=(0, 2), dtype=np.float64)
    return np.add.reduceat(squares, np.arange(0, fine.shape[1], cell))
