"""Embeddings of tokens from the features of an image: selected or pooled, as the array kind that was given."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.compiling import njit
from hra.domains.tokens.embedding.feature_grid import FeatureGrid, Grid, Overlaps, Regions, move_to, take_rows
from hra.errors import ArrayError
from hra.model.arrays import read_only

_SAME = 1e-6  # of a cell's area


def pool_regions(features: FeatureGrid, regions: Regions, count: int, size: Grid, patch: int) -> Any:
    """Area-weighted mean of the features below each of ``count`` tokens' regions, [count, D].

    Parameters
    ----------
    size, patch : of the image, see `FeatureGrid.edges`.
    """
    overlaps = Overlaps.of(regions, *features.edges(size, patch))
    weight = overlaps.area / overlaps.totals(count)[overlaps.token]
    return weighted(overlaps.token, overlaps.cell, weight, features.values, count)


def weighted(token: np.ndarray, cell: np.ndarray, weight: np.ndarray, values: Any, count: int) -> Any:
    """Sums [count, D] of rows ``cell`` [n] of ``values`` times ``weight`` [n] for each ``token`` [n], in its order."""
    if isinstance(values, np.ndarray):
        return _means(token, cell, weight, read_only(values), count)
    return _torch_means(token, cell, weight, values, count)


def select_cells(features: FeatureGrid, regions: Regions, count: int, size: Grid, patch: int) -> Any:
    """The feature of the cell that each of ``count`` tokens is, [count, D].

    Raises
    ------
    ArrayError : a token is more, less or other than one cell; names the first.
    """
    rows, columns = features.edges(size, patch)
    overlaps = Overlaps.of(regions, rows, columns)
    whole = np.outer(np.diff(rows), np.diff(columns)).ravel()[overlaps.cell]
    is_cell = overlaps.area > (1 - _SAME) * np.maximum(whole, overlaps.totals(count)[overlaps.token])
    found = np.full(count, -1)
    found[overlaps.token[is_cell]] = overlaps.cell[is_cell]
    if (found < 0).any():
        what = f"token {int(np.argmin(found))} is not one cell of a grid of {features.grid[0]} x {features.grid[1]}"
        fix = "pool the features, or choose cells of the grid, as GridTopK does at the encoder's patch size"
        raise ArrayError(what, where="select", fix=fix)
    return take_rows(features.values, found)


def _torch_means(token: np.ndarray, cell: np.ndarray, weight: np.ndarray, values: Any, count: int) -> Any:
    """`_means` on the tensor's device and with its gradient; half precision is summed in float32."""
    wide = values.float() if values.itemsize < 4 else values
    parts = wide.index_select(0, move_to(cell, values)).mul_(move_to(weight, values).to(wide.dtype)[:, None])
    total = wide.new_zeros((count, values.shape[1]))
    return total.index_add(0, move_to(token, values), parts).to(values.dtype)


@njit(cache=True)
def _means(token, cell, weight, values, count):
    """Weighted sums float32 [count, D] of the rows of ``values``, added up in float64."""
    width = values.shape[1]
    means, total = np.zeros((count, width), np.float32), np.zeros(width)
    for i in range(token.size):
        row, share = values[cell[i]], weight[i]
        for k in range(width):
            total[k] += share * row[k]
        if i + 1 == token.size or token[i + 1] != token[i]:
            for k in range(width):
                means[token[i], k] = total[k]
                total[k] = 0.0
    return means
