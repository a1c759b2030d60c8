"""How the regions of tokens share the cells of a grid, by area."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hra.compiling import njit


class Regions(NamedTuple):
    """The regions of tokens as rectangles: several of one token add up.

    owner : int64 [R], the token of each rectangle; boxes : float64 [R, 4], (x0, y0, x1, y1) in pixels.
    """

    owner: np.ndarray
    boxes: np.ndarray

    @classmethod
    def of(cls, boxes: np.ndarray) -> Regions:
        """One rectangle for each token."""
        return cls(np.arange(len(boxes)), np.asarray(boxes, np.float64))


class Overlaps(NamedTuple):
    """What tokens and cells share, sorted by token, then cell.

    token, cell : int64 [n]; area : float64 [n], square pixels, > 0.
    """

    token: np.ndarray
    cell: np.ndarray
    area: np.ndarray

    @classmethod
    def of(cls, regions: Regions, rows: np.ndarray, columns: np.ndarray) -> Overlaps:
        """The overlaps of regions with the cells, row by row, between the edges of ``rows`` and ``columns``."""
        cells = (rows.size - 1) * (columns.size - 1)
        key, area = _overlaps(regions.owner, regions.boxes, rows, columns)
        shared, index = np.unique(key, return_inverse=True)
        return cls(*np.divmod(shared, cells), np.bincount(index, area, minlength=shared.size))

    def totals(self, count: int) -> np.ndarray:
        """Square pixels of each of ``count`` tokens that lie on the grid, float64."""
        return np.bincount(self.token, self.area, minlength=count)


def _overlaps(owner: np.ndarray, boxes: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> tuple:
    first_x, last_x = _touched(boxes[:, 0], boxes[:, 2], columns)
    first_y, last_y = _touched(boxes[:, 1], boxes[:, 3], rows)
    count = int(np.maximum(last_x - first_x, 0) @ np.maximum(last_y - first_y, 0))
    key, area = np.empty(count, np.int64), np.empty(count)
    _list(owner, boxes, rows, columns, first_x, last_x, first_y, last_y, key, area)
    return key, area


def _touched(low: np.ndarray, high: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first cell that each interval touches and the one behind the last."""
    return np.maximum(np.searchsorted(edges, low, "right") - 1, 0), np.searchsorted(edges[:-1], high, "left")


@njit(cache=True)
def _list(owner, boxes, rows, columns, first_x, last_x, first_y, last_y, key, area):
    across, next_free = columns.size - 1, 0
    cells = across * (rows.size - 1)
    for k in range(len(boxes)):
        for y in range(first_y[k], last_y[k]):
            height = min(boxes[k, 3], rows[y + 1]) - max(boxes[k, 1], rows[y])
            for x in range(first_x[k], last_x[k]):
                width = min(boxes[k, 2], columns[x + 1]) - max(boxes[k, 0], columns[x])
                key[next_free] = owner[k] * cells + y * across + x
                area[next_free] = max(height, 0.0) * max(width, 0.0)
                next_free += 1


def runs(labels: np.ndarray) -> Regions:
    """Labels int [H, W] (-1 for none) as rectangles of one row of pixels each."""
    height, width = labels.shape
    begins = np.ones((height, width), bool)
    begins[:, 1:] = labels[:, 1:] != labels[:, :-1]
    y, x = np.nonzero(begins)
    ends = np.append(x[1:], 0)
    ends[ends == 0] = width
    kept = labels[y, x] >= 0
    boxes = np.stack([x, y, ends, y + 1], axis=1)[kept]
    return Regions(labels[y, x][kept].astype(np.int64), boxes.astype(np.float64))
