"""Regions as square tokens: the box of a region in patch x patch bins, each the mean of the region's pixels in it.

Bins are no smaller than a pixel: in boxes narrower than a patch, those beyond the box stay empty, as at the border of
the patch grid. Empty bins hold the mean of the region.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.domains.tokens.methods.regions.region_tree import run_end


@njit(cache=True, nogil=True)
def region_values(image, labels, boxes, patch):
    """Values of K regions, float32 [K, patch * patch * 3], row by row; `labels` int32 [H, W], -1 for none."""
    total = np.zeros((len(boxes), patch * patch, 3), np.float64)
    pixels = np.zeros((len(boxes), patch * patch), np.int32)
    for y in range(labels.shape[0]):
        x = 0
        while x < labels.shape[1]:
            end, region = run_end(labels[y], x, labels.shape[1]), labels[y, x]
            if region >= 0:
                _add_run(image[y], x, end, y, boxes[region], patch, total[region], pixels[region])
            x = end
    values = np.empty((len(boxes), patch * patch * 3), np.float32)
    for region in range(len(boxes)):
        _means(total[region], pixels[region], values[region])
    return values


@njit(cache=True, nogil=True)
def _add_run(row, x, end, y, box, patch, total, pixels):
    """Add the pixels [x, end) of a row to the bins of their region, bin after bin: divisions take longer than sums."""
    extent = max(box[2] - box[0], patch)
    first = bin_along(y - box[1], box[3] - box[1], patch) * patch
    column = bin_along(x - box[0], box[2] - box[0], patch)
    while x < end:
        until = min(box[0] + -(-(column + 1) * extent // patch), end)
        red, green, blue = 0.0, 0.0, 0.0
        for i in range(x, until):
            red += row[i, 0]
            green += row[i, 1]
            blue += row[i, 2]
        bin = total[first + column]
        bin[0] += red
        bin[1] += green
        bin[2] += blue
        pixels[first + column] += until - x
        x, column = until, column + 1


@njit(cache=True, nogil=True)
def paint(values, labels, boxes, patch, background):
    """The image in which every region shows its values, float32 [H, W, 3]; `background` where no region is."""
    image = np.full((*labels.shape, 3), background, np.float32)
    for y in range(labels.shape[0]):
        for x in range(labels.shape[1]):
            region = labels[y, x]
            if region >= 0:
                first = 3 * bin_of(boxes[region], y, x, patch)
                for c in range(3):
                    image[y, x, c] = min(max(values[region, first + c], np.float32(0)), np.float32(1))
    return image


@njit(cache=True, nogil=True, inline="always")
def bin_of(box, y, x, patch):
    """The number of the bin that shows a pixel of a region, row by row."""
    row = bin_along(y - box[1], box[3] - box[1], patch)
    return row * patch + bin_along(x - box[0], box[2] - box[0], patch)


@njit(cache=True, nogil=True, inline="always")
def bin_along(pixel, extent, patch):
    """The bin of a pixel along one side of a box of ``extent`` pixels."""
    return pixel * patch // max(extent, patch)


@njit(cache=True, nogil=True)
def _means(total, pixels, values):
    whole = total.sum(axis=0) / max(pixels.sum(), 1)
    for place in range(pixels.size):
        for c in range(3):
            values[3 * place + c] = total[place, c] / pixels[place] if pixels[place] else whole[c]
