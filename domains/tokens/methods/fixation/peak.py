"""Where to look: the fixation point of foveated methods."""

from __future__ import annotations

import numpy as np

from hra.domains.tokens.context.cells import cell_borders, cell_means

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
    means = cell_means(relevance, (_CELLS, _CELLS))
    y, x = np.unravel_index(int(means.argmax()), means.shape)
    rows, columns = (cell_borders(count, _CELLS) for count in relevance.shape)
    return float(columns[x] + columns[x + 1]) * patch / 2, float(rows[y] + rows[y + 1]) * patch / 2
