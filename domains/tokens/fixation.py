"""Where to look: the fixation point of foveated methods."""

from __future__ import annotations

import numpy as np

_CELLS = 16  # the coarse pass sees the image as 16 x 16 cells


def coarse_peak(relevance: np.ndarray, patch: int = 16) -> tuple[float, float]:
    """The centre of the most relevant cell of a coarse 16 x 16 pass over the relevance.

    Parameters
    ----------
    relevance : [rows, columns] of the finest patches; fewer than 16 rows or columns are their own cells.
    patch : side of a finest patch in pixels.

    Returns
    -------
    (x, y) in pixels; of equal cells the first, row by row.
    """
    rows, columns = (_edges(count) for count in relevance.shape)
    sums = np.add.reduceat(np.add.reduceat(relevance, rows[:-1], axis=0), columns[:-1], axis=1)
    means = sums / np.outer(np.diff(rows), np.diff(columns))
    y, x = np.unravel_index(int(means.argmax()), means.shape)
    return float(columns[x] + columns[x + 1]) * patch / 2, float(rows[y] + rows[y + 1]) * patch / 2


def _edges(count: int) -> np.ndarray:
    """Borders of at most 16 nearly equal runs of 0 .. count-1."""
    cells = min(count, _CELLS)
    return np.arange(cells + 1) * count // cells
