"""Token hierarchies over regions: the region tree itself, and one cut of it whose regions share out the tokens.

First how well every node of a region tree shows its region, which is the error of the tree; last the cells of a region:
any number of parts of equal area.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hra.compiling import njit
from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.context.token_builder import TokenBuilder
from hra.domains.tokens.methods.regions.descriptors import importance, pool_patches
from hra.domains.tokens.methods.regions.painting import bin_along
from hra.domains.tokens.methods.regions.patch_errors import patch_region_errors
from hra.domains.tokens.methods.regions.region_sources import PatchRegions, RegionSource
from hra.domains.tokens.methods.regions.region_tokens import RegionTokens
from hra.domains.tokens.methods.regions.region_tree import RegionTree, region_boxes, run_end
from hra.errors import wrong_kind
from hra.model.arrays import offsets_of
from hra.model.hierarchy import Hierarchy


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
    rows, columns = _leaf_pixels(tree.labels, begin)
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
def _leaf_pixels(labels, begin):
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


def _check_source(source: Any) -> None:
    if not isinstance(source, RegionSource):
        fix = "pass an object of hra.domains.tokens.methods.regions.region_sources, such as SlicRegions()"
        raise wrong_kind("source", source, RegionSource, fix)


@dataclass(frozen=True)
class RegionTreeBuilder(TokenBuilder[RegionTokens]):
    """The region tree, one token per node: a region goes and its two parts come, so every count can be met.

    Parameters
    ----------
    source : makes the region tree.
    """

    source: RegionSource = field(default_factory=PatchRegions)

    def __post_init__(self) -> None:
        _check_source(self.source)

    def build(self, context: TokenContext) -> Hierarchy:
        """A binary tree with the attribute "error", see `region_errors`."""
        tree = self.source.tree(context)
        error = region_errors(tree, context.pyramid.image, context.pixel_weight, context.pyramid.patch)
        return Hierarchy.tree(tree.parent, np.ones(len(tree)), attributes={"error": error}, cost_unit="tokens")

    def tokens(self, context: TokenContext, hierarchy: Hierarchy, cut: np.ndarray) -> RegionTokens:
        """One token for each node of ``cut``."""
        return RegionTokens.of(context, self.source.tree(context).shown(cut), len(cut))


@dataclass(frozen=True)
class RegionCellsBuilder(TokenBuilder[RegionTokens]):
    """A fixed number of regions, each a stratum of as many tokens as it has finest patches, at least 1.

    A patch counts for the region of its first pixel. A region that gets n tokens is divided into n cells, see
    `split_regions`.

    Parameters
    ----------
    source : makes the region tree, of which one cut is taken.
    regions : how many, or all leaves where there are fewer. Masks of a source are divided where they are fewer, but
        never merged where they are more: all of them compete.
    """

    source: RegionSource = field(default_factory=PatchRegions)
    regions: int = 100

    def __post_init__(self) -> None:
        _check_source(self.source)

    def build(self, context: TokenContext) -> Hierarchy:
        """A flat hierarchy with the attributes "stratum" (the region) and "importance" (see `importance`)."""
        labels, count = self._regions(context)
        patch = context.pyramid.patch
        capacity = np.maximum(np.bincount(labels[::patch, ::patch].ravel(), minlength=count), 1)
        stratum = np.repeat(np.arange(count), capacity)
        worth = pool_patches(importance(context)[..., None], labels, count, patch)[:, 0]
        attributes = {"stratum": stratum, "importance": worth[stratum]}
        return Hierarchy.flat(np.ones(stratum.size), attributes=attributes, cost_unit="tokens")

    def tokens(self, context: TokenContext, hierarchy: Hierarchy, cut: np.ndarray) -> RegionTokens:
        """As many cells of every region as ``cut`` has nodes of it."""
        labels, count = self._regions(context)
        counts = np.bincount(hierarchy.attribute("stratum")[cut], minlength=count)
        return RegionTokens.of(context, split_regions(labels, counts), len(cut))

    def _regions(self, context: TokenContext) -> tuple[np.ndarray, int]:
        tree = self.source.tree(context)
        count = min(max(self.regions, tree.parts), tree.leaves)
        return tree.cut(count), count


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
    """The number of rows in which ``count`` cells lie."""
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
