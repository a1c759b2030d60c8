"""Maps over an image, brought from one grid to another by the areas that their cells share."""

from __future__ import annotations

import numpy as np


def resample(values: np.ndarray, grid: tuple[int, int], cover: tuple[float, float] = (1.0, 1.0)) -> np.ndarray:
    """A map over the whole image on another grid: each cell gets the mean over its area.

    The map divides the image evenly; the mean over the image does not change. One on the same grid is returned as is.

    Parameters
    ----------
    values : [h, w] or [h, w, D].
    grid : (rows, columns) of the result.
    cover : share of the height and width of the new grid that the image covers: its last cells may reach beyond.

    Returns
    -------
    float64 [rows, columns] or [rows, columns, D].
    """
    if values.shape[:2] == tuple(grid):
        return np.asarray(values, np.float64)
    vertical, horizontal = (_shares(*axis) for axis in zip(values.shape[:2], grid, cover, strict=True))
    down = np.tensordot(vertical, np.asarray(values, np.float64), axes=(1, 0))
    return np.moveaxis(np.tensordot(horizontal, down, axes=(1, 1)), 0, 1)


def _shares(count: int, into: int, cover: float) -> np.ndarray:
    """Which share of each of ``into`` cells, as far as it is image, lies in each of ``count`` cells, [into, count]."""
    new, old = np.minimum(np.linspace(0, 1 / cover, into + 1), 1), np.linspace(0, 1, count + 1)
    overlap = np.minimum(new[1:, None], old[1:]) - np.maximum(new[:-1, None], old[:-1])
    return np.maximum(overlap, 0) / np.diff(new)[:, None]
