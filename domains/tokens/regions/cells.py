"""Cells: a region divided into any number of parts of equal area."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.domains.tokens.regions.region_tree import region_boxes
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
    areas = np.bincount(labels[labels >= 0], minlength=counts.size)
    begin, first = (offsets_of(values).astype(np.int64) for values in (areas, counts))
    _split(labels, region_boxes(labels, counts.size), _listed(labels, begin), begin, first, cells)
    return cells


@njit(cache=True)
def _listed(labels, begin):
    """Flat positions of the pixels of each region, row by row."""
    free, width = begin.copy(), labels.shape[1]
    positions = np.empty(begin[-1], np.int64)
    for y in range(labels.shape[0]):
        for x in range(width):
            if labels[y, x] >= 0:
                positions[free[labels[y, x]]] = y * width + x
                free[labels[y, x]] += 1
    return positions


@njit(cache=True)
def _split(labels, boxes, positions, begin, first, cells):
    width = labels.shape[1]
    flat = cells.reshape(-1)
    for region in range(len(boxes)):
        count, pixels = first[region + 1] - first[region], positions[begin[region] : begin[region + 1]]
        rows = _rows(boxes[region], count)
        for row in range(rows):
            low, high = row * count // rows, (row + 1) * count // rows
            inside = pixels[low * pixels.size // count : high * pixels.size // count]
            ordered = _by_column(inside, width)
            for i in range(ordered.size):
                flat[ordered[i]] = first[region] + low + _part(i, ordered.size, high - low)


@njit(cache=True)
def _rows(box, count):
    height, width = box[3] - box[1], box[2] - box[0]
    return 0 if count == 0 else min(max(int(np.sqrt(count * height / width) + 0.5), 1), count)


@njit(cache=True)
def _part(i, size, parts):
    """Which of ``parts`` runs, cut at size * k // parts, holds entry i."""
    part = i * parts // size
    while size * (part + 1) // parts <= i:
        part += 1
    return part


@njit(cache=True)
def _by_column(positions, width):
    """The same positions from left to right; those of one column stay in order."""
    ends = np.zeros(width + 1, np.int64)
    for position in positions:
        ends[position % width + 1] += 1
    ends = np.cumsum(ends)
    ordered = np.empty_like(positions)
    for position in positions:
        ordered[ends[position % width]] = position
        ends[position % width] += 1
    return ordered
