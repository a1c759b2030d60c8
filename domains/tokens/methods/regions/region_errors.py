"""How well every node of a region tree shows its region."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.domains.tokens.methods.regions.painting import bin_along
from hra.domains.tokens.methods.regions.patch_errors import patch_region_errors
from hra.domains.tokens.methods.regions.region_tree import RegionTree


def region_errors(tree: RegionTree, image: np.ndarray, weight: np.ndarray, patch: int) -> np.ndarray:
    """Weighted squared error of every node's region while its own token shows it.

    A node counts at least the errors of its two parts: where it fits better by chance, it gets no credit that the parts
    would have to pay back.

    Parameters
    ----------
    image : float32 [H, W, 3].
    weight : float [rows, columns] of the finest patches, weight of one squared channel difference.

    Returns
    -------
    float64 [N].
    """
    if tree.cell == patch:
        return patch_region_errors(tree, image, weight, patch)
    begin, end = _ranges(tree.merges, tree.areas)
    rows, columns = _places_in_order(tree.labels, begin)
    pixels, weights = image[rows, columns], weight[rows // patch, columns // patch]
    return _errors(rows, columns, pixels, weights, begin, end, tree.boxes, tree.merges, patch)


@njit(cache=True)
def _ranges(merges, areas):
    """Where the pixels of every node begin and end if those of each node lie side by side, int64 [N] each."""
    begin = np.zeros(areas.size, np.int64)
    for k in range(len(merges) - 1, -1, -1):
        node = len(merges) + 1 + k
        begin[merges[k, 0]] = begin[node]
        begin[merges[k, 1]] = begin[node] + areas[merges[k, 0]]
    return begin, begin + areas


@njit(cache=True)
def _places_in_order(labels, begin):
    """Rows and columns of all pixels, those of each leaf from its ``begin`` on, int32 [H * W] each."""
    free = begin.copy()
    rows, columns = np.empty(labels.size, np.int32), np.empty(labels.size, np.int32)
    for y in range(labels.shape[0]):
        for x in range(labels.shape[1]):
            place = free[labels[y, x]]
            rows[place], columns[place] = y, x
            free[labels[y, x]] = place + 1
    return rows, columns


@njit(cache=True)
def _errors(rows, columns, pixels, weights, begin, end, boxes, merges, patch):
    error = np.zeros(begin.size)
    leaves = len(merges) + 1
    for v in range(begin.size):
        box = boxes[v]
        if box[2] - box[0] > patch or box[3] - box[1] > patch:
            inside = slice(begin[v], end[v])
            error[v] = _error(rows[inside], columns[inside], pixels[inside], weights[inside], box, patch)
        if v >= leaves:
            error[v] = max(error[v], error[merges[v - leaves, 0]] + error[merges[v - leaves, 1]])
    return error


@njit(cache=True)
def _error(rows, columns, pixels, weights, box, patch):
    """Weighted squared error of pixels [P, 3] that the means of their bins show."""
    mean, count = np.zeros((patch * patch, 3), np.float32), np.zeros(patch * patch, np.int32)
    places = np.empty(rows.size, np.int32)
    # Looked up, because two integer divisions per pixel cost a fifth more.
    row, column = _bins(box[1], box[3], patch), _bins(box[0], box[2], patch)
    for i in range(rows.size):
        place = row[rows[i] - box[1]] * patch + column[columns[i] - box[0]]
        places[i] = place
        count[place] += 1
        for c in range(3):
            mean[place, c] += pixels[i, c]
    for place in range(count.size):
        for c in range(3):
            mean[place, c] /= max(count[place], 1)
    error = 0.0
    for i in range(rows.size):
        squared = np.float32(0)
        for c in range(3):
            difference = pixels[i, c] - mean[places[i], c]
            squared += difference * difference
        error += weights[i] * squared
    return error


@njit(cache=True)
def _bins(first, last, patch):
    """The bin of every pixel of one side of a box."""
    bins = np.empty(last - first, np.int32)
    for i in range(bins.size):
        bins[i] = bin_along(i, last - first, patch)
    return bins
