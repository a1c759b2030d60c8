"""How well every node of a region tree over the patches of an image shows its region.

These are the errors that `region_errors` finds pixel by pixel. Weights are constant within a patch and bins are
rectangles, so that a patch adds to each bin at once what its pixels would; where no bin crosses a border of patches,
patches are even independent of each other.

The sums over rectangles within patches come from tables of sums: what a patch adds to a bin takes four look-ups a
channel. Tables hold how much pixels differ from the mean of their patch, so that single precision is enough for them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hra.caching import Scratch
from hra.compiling import njit
from hra.domains.tokens.methods.regions.painting import bin_along
from hra.domains.tokens.methods.regions.region_tree import RegionTree


def patch_region_errors(tree: RegionTree, image: np.ndarray, weight: np.ndarray, patch: int) -> np.ndarray:
    """Weighted squared error of every node; see `region_errors`, of a tree whose `RegionTree.cell` is the patch."""
    begin, leaves = _leaves_in_order(tree.merges)
    columns = weight.shape[1]
    sums, weights = patch_sums(image, patch), np.ascontiguousarray(weight, np.float64).ravel()
    return _errors(image, sums, weights, (columns, patch), begin, leaves, tree.boxes, tree.merges)


@njit(cache=True, nogil=True)
def _leaves_in_order(merges):
    """Where the leaves below every node begin, int64 [N + 1], and all leaves so that those of a node lie together."""
    leaves = len(merges) + 1
    count, begin = np.ones(leaves + len(merges), np.int64), np.zeros(leaves + len(merges), np.int64)
    for k in range(len(merges)):
        count[leaves + k] = count[merges[k, 0]] + count[merges[k, 1]]
    order = np.empty(leaves, np.int64)
    for k in range(len(merges) - 1, -1, -1):
        begin[merges[k, 0]] = begin[leaves + k]
        begin[merges[k, 1]] = begin[leaves + k] + count[merges[k, 0]]
    for leaf in range(leaves):
        order[begin[leaf]] = leaf
    return np.stack((begin, begin + count), axis=1), order


@njit(cache=True, nogil=True)
def _errors(image, sums, weight, shape, begin, order, boxes, merges):
    patch = shape[1]
    error, bins = np.zeros(len(begin)), np.zeros((patch * patch, 8))
    leaves = len(merges) + 1
    # A leaf is no larger than a token, and exact.
    for v in range(leaves, len(begin)):
        box, inside = boxes[v], order[begin[v, 0] : begin[v, 1]]
        down, across = box[3] - box[1], box[2] - box[0]
        # Whole patches, each with a whole number of bins of this many pixels.
        if (
            down % patch == 0
            and across % patch == 0
            and patch % (down // patch) == 0
            and patch % (across // patch) == 0
        ):
            own = _within(image, sums, weight, inside, shape, down // patch, across // patch)
        else:
            own = _across(sums, weight, inside, box, shape, image.shape, bins)
        error[v] = max(own, error[merges[v - leaves, 0]] + error[merges[v - leaves, 1]])
    return error


@njit(cache=True, nogil=True)
def _within(image, sums, weight, inside, shape, down, across):
    """Weighted error of patches whose bins of ``down`` x ``across`` pixels are their own."""
    columns, patch = shape
    error = 0.0
    for number in inside:
        if down <= 2 and across <= 2:
            y, x = number // columns * patch, number % columns * patch
            left = _of_few(image[y : y + patch, x : x + patch], down, across)
        else:
            left = sums.squares[number] - _shown(sums.table[number], patch, down, across)
        error += weight[number] * max(left, 0.0)
    return error


@njit(cache=True, nogil=True)
def _shown(table, patch, down, across):
    """What bins of a patch show of its summed squares."""
    total = 0.0
    for y in range(0, patch, down):
        for x in range(0, patch, across):
            for c in range(3):
                part = np.float64(rectangle(table, patch + 1, y, y + down, x, x + across, c))
                total += part * part
    return total / (down * across)


@njit(cache=True, nogil=True)
def _of_few(pixels, down, across):
    """Squared error of bins of at most 2 x 2 pixels: half of the squared difference of two, or that of two means."""
    total, share = 0.0, np.float32(down / 8)
    for y in range(0, len(pixels), down):
        upper, lower, error = pixels[y], pixels[y + down - 1], np.float32(0)
        for x in range(0, len(upper), across):
            for c in range(3):
                first, second = upper[x, c] - lower[x, c], np.float32(0)
                if across == 2:
                    second = upper[x + 1, c] - lower[x + 1, c]
                    beside = (upper[x, c] + lower[x, c]) - (upper[x + 1, c] + lower[x + 1, c])
                    error += share * beside * beside
                error += (first * first + second * second) * np.float32(0.5)
        total += error
    return total


@njit(cache=True, nogil=True)
def _across(sums, weight, inside, box, shape, size, bins):
    """Weighted error of patches whose bins may be shared: their sums are found first, weighted and not."""
    columns, patch = shape
    height, width, _ = size
    bins[:] = 0
    row_cut, column_cut = _cuts(box[1], box[3], patch, height), _cuts(box[0], box[2], patch, width)
    first_row, first_column = box[1] // patch, box[0] // patch
    # Colours are counted from one that is near, so that even regions come to nothing.
    origin, error = sums.mean[inside[0]], 0.0
    for number in inside:
        rows = row_cut[number // columns - first_row]
        across = column_cut[number % columns - first_column]
        error += _add_patch(sums, number, weight[number], origin, rows, across, patch, bins)
    for place in range(len(bins)):
        pixels, weighted = bins[place, 3], bins[place, 7]
        if pixels > 0:
            for c in range(3):
                shown = bins[place, c] / pixels
                error += shown * (shown * weighted - 2 * bins[place, 4 + c])
    return max(error, 0.0)


@njit(cache=True, nogil=True)
def _add_patch(sums, number, weight, origin, rows, across, patch, bins):
    """Add a patch to its bins: sums, pixels, and both weighted; returns its weighted sum of squares."""
    table, mean, stride = sums.table[number], sums.mean[number], patch + 1
    count = 0
    for i in range(1, rows[0, 0] + 1):
        y0, y1 = rows[i, 0], rows[i, 1]
        for j in range(1, across[0, 0] + 1):
            x0, x1 = across[j, 0], across[j, 1]
            area = (y1 - y0) * (x1 - x0)
            count += area
            place = bins[rows[i, 2] * patch + across[j, 2]]
            for c in range(3):
                part = (mean[c] - origin[c]) * area + rectangle(table, stride, y0, y1, x0, x1, c)
                place[c] += part
                place[4 + c] += weight * part
            place[3] += area
            place[7] += weight * area
    squares = sums.squares[number]
    for c in range(3):
        squares += count * (mean[c] - origin[c]) ** 2
    return weight * squares


@njit(cache=True, nogil=True)
def _cuts(first, last, patch, limit):
    """Where bins cut each patch along one side of a box: [patches, 1 + pieces, (begin, end, bin)].

    The first entry holds the number of pieces.
    """
    patches = -(-(last - first) // patch)
    cuts = np.zeros((patches, patch + 1, 3), np.int32)
    for k in range(patches):
        pixels, count = min(patch, limit - first - k * patch), 0
        for i in range(pixels):
            bin = bin_along(k * patch + i, last - first, patch)
            if count == 0 or cuts[k, count, 2] != bin:
                count += 1
                cuts[k, count, 0], cuts[k, count, 2] = i, bin
            cuts[k, count, 1] = i + 1
        cuts[k, 0, 0] = count
    return cuts


_memory = Scratch()


class PatchSums(NamedTuple):
    """Sums of an image in N patches, row by row.

    mean : float64 [N, 3]; squares : float64 [N], summed squares of the differences from it.
    table : float32 [N, (patch + 1)**2, 3], the sum of the differences above and to the left of each place.
    """

    mean: np.ndarray
    squares: np.ndarray
    table: np.ndarray


def patch_sums(image: np.ndarray, patch: int) -> PatchSums:
    """The sums of an image float32 [H, W, 3]. The table is only valid until this thread makes the next one."""
    count = -(-image.shape[0] // patch) * -(-image.shape[1] // patch)
    # Memory of this size costs more to get than to fill.
    table = _memory.array("table", (count, (patch + 1) ** 2, 3), np.float32)
    mean, squares = np.zeros((count, 3)), np.zeros(count)
    _fill(image, patch, mean, squares, table)
    return PatchSums(mean, squares, table)


@njit(cache=True, nogil=True)
def _fill(image, patch, mean, squares, table):
    height, width, _ = image.shape
    columns = -(-width // patch)
    for number in range(len(mean)):
        y, x = number // columns * patch, number % columns * patch
        pixels = image[y : min(y + patch, height), x : min(x + patch, width)]
        _fill_mean(pixels, mean[number])
        squares[number] = _fill_table(pixels, mean[number], patch + 1, table[number])


@njit(cache=True, nogil=True)
def _fill_mean(pixels, mean):
    rows, columns, _ = pixels.shape
    red, green, blue = 0.0, 0.0, 0.0  # in double precision: patches of one colour have no difference at all
    for y in range(rows):
        for x in range(columns):
            red += pixels[y, x, 0]
            green += pixels[y, x, 1]
            blue += pixels[y, x, 2]
    area = rows * columns
    mean[0], mean[1], mean[2] = red / area, green / area, blue / area


@njit(cache=True, nogil=True)
def _fill_table(pixels, mean, stride, table):
    """Fill ``table`` [stride**2, 3]; returns the sum of squares."""
    rows, columns, _ = pixels.shape
    for c in range(3):
        for x in range(columns + 1):
            table[x, c] = 0
    total = 0.0
    for y in range(rows):
        at, squares = (y + 1) * stride, np.float32(0)
        for c in range(3):
            table[at, c] = 0
            middle, running = np.float32(mean[c]), np.float32(0)
            for x in range(columns):
                difference = pixels[y, x, c] - middle
                squares += difference * difference
                running += difference
                table[at + x + 1, c] = running + table[at - stride + x + 1, c]
        total += squares
    return total


@njit(cache=True, nogil=True, inline="always")
def rectangle(table, stride, y0, y1, x0, x1, c):
    """Sum of the differences in rows [y0, y1) and columns [x0, x1) of a patch."""
    low, high = y0 * stride, y1 * stride
    return table[high + x1, c] - table[high + x0, c] - table[low + x1, c] + table[low + x0, c]
