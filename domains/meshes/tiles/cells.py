"""Cells of space that the tiles of a mesh fill: halved at the median until few triangles are left."""

from __future__ import annotations

import math

import numpy as np


def cells_of(points: np.ndarray, most: int) -> tuple[int, np.ndarray]:
    """How often all ``points`` [F, 3] are halved until cells have at most ``most``, and the cell of each, int64 [F].

    Each cell is halved at the median of its longest axis; cells 2 c and 2 c + 1 are the halves of cell c.
    """
    depth = max(0, math.ceil(math.log2(len(points) / most)))
    cell = np.zeros(len(points), np.int64)
    runs = [np.arange(len(points))]
    for _ in range(depth):
        runs = [half for run in runs for half in _halves(points, run)]
    for number, run in enumerate(runs):
        cell[run] = number
    return depth, cell


def _halves(points: np.ndarray, run: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    own = points[run]
    axis = int(np.argmax(own.max(axis=0) - own.min(axis=0)))
    order = run[np.argsort(own[:, axis], kind="stable")]
    return order[: order.size // 2], order[order.size // 2 :]


def shared_vertices(triangles: np.ndarray, cell: np.ndarray, vertex_count: int) -> np.ndarray:
    """Vertices that triangles of several cells use, uint8 [V].

    Parameters
    ----------
    triangles : [F, 3], by position; cell : int64 [F].
    """
    low, high = np.full(vertex_count, np.iinfo(np.int64).max), np.full(vertex_count, -1)
    for corner in triangles.T:
        np.minimum.at(low, corner, cell)
        np.maximum.at(high, corner, cell)
    return (low < high).astype(np.uint8)
