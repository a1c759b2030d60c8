"""Features of finest patches: what an encoder returns, checked, and its projection to fewer dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hra.domains.tokens.embedding.embeddings import pool_regions
from hra.domains.tokens.embedding.feature_grid import FeatureGrid, Regions
from hra.errors import ArrayError, MetricError
from hra.model.arrays import to_numpy, whole_number

Encoder = Callable[[np.ndarray], Any]
"""image float32 [H, W, 3] -> features [h, w, D] over the whole image, at best one for each finest patch."""

TextEncoder = Callable[[str], Any]
"""query -> its embedding [D], in the space of the patch features that it is compared with."""


def check_features(values: Any, grid: tuple[int, int]) -> np.ndarray:
    """Validate patch features, and resample those of another grid over the same image by area.

    Parameters
    ----------
    values : [h, w, D] numbers over the whole image, at best one vector per finest patch; any array-like.
    grid : the (rows, columns) of the finest patches.

    Returns
    -------
    float32 [rows, columns, D].

    Raises
    ------
    MetricError : wrong shape, no channels, not numeric, NaN or infinite.
    """
    try:
        features = FeatureGrid.of(to_numpy(values))
    except ArrayError as error:
        raise MetricError(error.what, where=error.where or "encoder", fix=error.fix) from error
    if features.grid == tuple(grid):
        return features.values.reshape(*grid, -1)
    y, x = np.divmod(np.arange(grid[0] * grid[1]), grid[1])
    cells = Regions.of(np.stack([x, y, x + 1, y + 1], axis=1))
    return pool_regions(features, cells, len(cells.boxes), grid, patch=1).reshape(*grid, -1)


def project(embeddings: Any, width: int) -> np.ndarray:
    """Embeddings in fewer dimensions, their scalar products kept on average.

    A fixed matrix of normal numbers: no weights to ship, and the same for images and queries, so that what is similar
    stays similar (W. B. Johnson and J. Lindenstrauss, 1984). Embeddings of at most ``width`` dimensions are only padded
    with zeros.

    Parameters
    ----------
    embeddings : [..., D] numbers.
    width : dimensions of the result.

    Returns
    -------
    float32 [..., width].

    Raises
    ------
    ArrayError : no dimension to project, or a width that is not a whole number above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> tokens.project(np.eye(3, 768), width=64).shape
    (3, 64)
    """
    values = to_numpy(embeddings).astype(np.float32)
    if values.ndim == 0:
        raise ArrayError("a single number is not an embedding", where="embeddings", fix="pass an array [..., D]")
    size = whole_number(width)
    if size is None or size < 1:
        raise ArrayError(f"a width of {width}", where="width", fix="use a whole number such as 64")
    width = size
    if values.shape[-1] <= width:
        return np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, width - values.shape[-1])])
    matrix = np.random.default_rng(0).standard_normal((values.shape[-1], width), np.float32)
    return values @ (matrix / np.float32(np.sqrt(width)))
