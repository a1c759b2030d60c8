"""A coarse grid of cells over the finest patches, as even as whole patches allow."""

from __future__ import annotations

import numpy as np


def cell_borders(count: int, cells: int) -> np.ndarray:
    """Borders of ``cells`` nearly equal runs of 0 .. count-1 (of ``count`` runs where there are fewer), int64."""
    cells = min(count, cells)
    return np.arange(cells + 1) * count // cells


def cell_labels(shape: tuple[int, int], cells: tuple[int, int]) -> np.ndarray:
    """The number of the cell, row by row, that holds each entry of a grid: int64 [rows, columns]."""
    down, across = (cell_borders(count, most) for count, most in zip(shape, cells, strict=True))
    row, column = (np.repeat(np.arange(edges.size - 1), np.diff(edges)) for edges in (down, across))
    return row[:, None] * (across.size - 1) + column


def cell_means(array: np.ndarray, cells: tuple[int, int]) -> np.ndarray:
    """Mean over each cell: [rows, columns, ...] to [at most cells[0], at most cells[1], ...]."""
    down, across = (cell_borders(count, most) for count, most in zip(array.shape[:2], cells, strict=True))
    sums = np.add.reduceat(np.add.reduceat(array, down[:-1], axis=0), across[:-1], axis=1)
    counts = np.outer(np.diff(down), np.diff(across))
    return sums / counts.reshape(counts.shape + (1,) * (array.ndim - 2)).astype(array.dtype)
