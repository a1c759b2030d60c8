"""Cells: a region divided into any number of parts of equal area."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.domains.tokens.methods.regions.region_tree import region_boxes, run_end
from hra.model.arrays import offsets_of


def split_regions(labels: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Divide region r into exactly ``counts[r]`` cells, about as wide as high.

    In a box of height H and width W, n cells form sqrt(n H / W) rows (rounded, at least 1 and at most n), which share
    the cells as evenly as possible. Rows and cells are cut by numbers of pixels and not by lengths, so that no cell of
    an irregular region is empty; they follow the lines of the box up to one row of pixels.

    Parameters
    ----------
    labels : int32 [H, W], 0 .. R - 1, -1 for none.
    counts : int [R], at most the pixels of the region; regions of 0 cells become -1.

    Returns
    -------
    int32 [H, W], the cells of region 0 first; -1 for none.
    """
    cells = np.full(labels.shape, -1, np.int32)
    counts = np.ascontiguousarray(counts, np.int64)
    areas = np.zeros(counts.size, np.int64)
    _add_areas(labels, areas)
    begin, first = (offsets_of(values).astype(np.int64) for values in (areas, counts))
    rows, columns = _places_in_order(labels, begin)
    _split(region_boxes(labels, counts.size), rows, columns, begin, first, cells)
    return cells


@njit(cache=True, nogil=True)
def _add_areas(labels, areas):
    for y in range(labels.shape[0]):
        x = 0
        while x < labels.shape[1]:
            end, region = run_end(labels[y], x, labels.shape[1]), labels[y, x]
            if region >= 0:
                areas[region] += end - x
            x = end


@njit(cache=True, nogil=True)
def _places_in_order(labels, begin):
    """Rows and columns of the pixels of each region, row by row: int32 each."""
    free, width = begin.copy(), labels.shape[1]
    rows, columns = np.empty(begin[-1], np.int32), np.empty(begin[-1], np.int32)
    for y in range(labels.shape[0]):
        x = 0
        while x < width:
            end, region = run_end(labels[y], x, width), labels[y, x]
            if region >= 0:
                for column in range(x, end):
                    rows[free[region] + column - x], columns[free[region] + column - x] = y, column
                free[region] += end - x
            x = end
    return rows, columns


@njit(cache=True, nogil=True)
def _split(boxes, rows, columns, begin, first, cells):
    for region in range(len(boxes)):
        count, pixels = first[region + 1] - first[region], begin[region + 1] - begin[region]
        bands = _bands(boxes[region], count)
        for band in range(bands):
            low, high = band * count // bands, (band + 1) * count // bands
            inside = slice(begin[region] + low * pixels // count, begin[region] + high * pixels // count)
            y, x = rows[inside], columns[inside]
            ordered, parts = _by_column(x, boxes[region]), high - low
            for part in range(parts):
                for i in range(y.size * part // parts, y.size * (part + 1) // parts):
                    cells[y[ordered[i]], x[ordered[i]]] = first[region] + low + part


@njit(cache=True, nogil=True)
def _bands(box, count):
    """In how many rows ``count`` cells lie."""
    height, width = box[3] - box[1], box[2] - box[0]
    return 0 if count == 0 else min(max(int(np.sqrt(count * height / width) + 0.5), 1), count)


@njit(cache=True, nogil=True)
def _by_column(columns, box):
    """The places of ``columns`` from left to right; those of one column stay in order."""
    ends = np.zeros(box[2] - box[0] + 1, np.int64)
    for column in columns:
        ends[column - box[0] + 1] += 1
    ends = np.cumsum(ends)
    ordered = np.empty(columns.size, np.int64)
    for i in range(columns.size):
        place = columns[i] - box[0]
        ordered[ends[place]] = i
        ends[place] += 1
    return ordered
