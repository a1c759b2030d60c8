"""Channels that depend on more than the pixels of one frame: motion and eccentricity."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.camera.eccentricity import Eccentricity
from hra.domains.tokens.channels.cells import no_cells, square_means
from hra.errors import ImageError
from hra.files.images.arrays import as_image
from hra.files.images.arrays import luma as luma_of


def motion(luma: np.ndarray, previous: Any, cell: int) -> np.ndarray:
    """Mean absolute change of luma since the previous frame; zero without one.

    Source: the flicker channel of L. Itti, N. Dhavale and F. Pighin, "Realistic avatar eye and head animation using a
    neurobiological model of visual attention" (SPIE 5200, 2003).

    Parameters
    ----------
    luma : float32 [H, W] in [0, 1].
    previous : the frame before, [H, W, 3] as `hra.files.images.as_image` takes it, or None.
    cell : side of a cell in pixels.

    Returns
    -------
    float32 [ceil(H/cell), ceil(W/cell)] in [0, 1].

    Raises
    ------
    ImageError : an unusable frame, or one of another size.
    """
    if previous is None:
        return no_cells(luma.shape, cell)
    before = luma_of(as_image(previous))[..., 0]
    if before.shape != luma.shape:
        what = f"the previous frame has {before.shape} pixels, this one {luma.shape}"
        raise ImageError(what, where="previous", fix="pass frames of one size")
    return square_means(np.abs(luma - before), cell)


def eccentricity(size: tuple[int, ...], gaze: tuple[float, float] | None, cell: int) -> np.ndarray:
    """Distance of every cell's centre from the gaze, as a share of the image's longer side.

    Proportional to the visual angle, whatever the field of view, as far as `hra.Eccentricity` takes it to be.

    Parameters
    ----------
    size : (height, width) in pixels.
    gaze : (x, y) in pixels; None for the centre.
    cell : side of a cell in pixels.

    Returns
    -------
    float64 [ceil(H/cell), ceil(W/cell)], >= 0.

    Raises
    ------
    ArrayError : a gaze that is not two finite numbers.
    """
    height, width = size
    y, x = ((np.arange(0, extent, cell) + np.minimum(np.arange(0, extent, cell) + cell, extent)) / 2 for extent in size)
    centres = np.stack(np.broadcast_arrays(x, y[:, None]), axis=-1)
    where = (width / 2, height / 2) if gaze is None else gaze
    return Eccentricity(where, pixels_per_degree=max(size)).degrees(centres)
