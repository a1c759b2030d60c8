"""Channels of colour, luminance and two opponents; and the cells that a texture array has channels of."""

from __future__ import annotations

import numpy as np

from hra.domains.tokens.pyramid.blocks import block_means
from hra.files.images.arrays import LUMA


def square_means(pixels: np.ndarray, cell: int) -> np.ndarray:
    """Mean of [H, W, ...] over cells of ``cell`` pixels, float32 [ceil(H/cell), ceil(W/cell), ...]."""
    if cell == 1:  # summing runs of one pixel takes as long as any other
        return pixels.astype(np.float32, copy=False)
    return block_means(pixels, cell).astype(np.float32)


def no_cells(size: tuple[int, ...], cell: int) -> np.ndarray:
    """Zeros for every cell of an image of ``size`` (height, width), float32."""
    return np.zeros((-(-size[0] // cell), -(-size[1] // cell)), np.float32)


# Rows: luma, red against green, blue against yellow (the mean of red and green).
_OPPONENTS = np.array([LUMA, [1, -1, 0], [-0.5, -0.5, 1]], np.float32)


def color_channels(image: np.ndarray, cell: int) -> dict[str, np.ndarray]:
    """Mean luma and colour opponents of every cell.

    Source: the colour opponents of L. Itti, C. Koch and E. Niebur, "A model of saliency-based visual attention for
    rapid scene analysis" (PAMI 1998), without their division by intensity, which amplifies noise in the dark.

    Parameters
    ----------
    image : float32 [H, W, 3] in [0, 1].
    cell : side of a cell in pixels.

    Returns
    -------
    ``luminance`` in [0, 1], ``red_green`` and ``blue_yellow`` in [-1, 1], float32 [ceil(H/cell), ceil(W/cell)].
    """
    means = square_means(image, cell) @ _OPPONENTS.T
    return {"luminance": means[..., 0], "red_green": means[..., 1], "blue_yellow": means[..., 2]}
