"""A region tree: an image in leaf regions, and the order in which neighbours are merged up to the whole image."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.caching import cached_property
from hra.compiling import njit
from hra.domains.tokens.pyramid.blocks import block_counts
from hra.kernels.trees import Tree, boxes_up, reduce_up


@dataclass(frozen=True, eq=False)
class RegionTree:
    """L leaf regions and L - 1 merges; node L + k is what merge k makes, and the last node is the whole image.

    Source: the binary partition tree of P. Salembier and L. Garrido, "Binary partition tree as an efficient
    representation for image processing, segmentation, and information retrieval" (IEEE TIP 9, 2000).

    Attributes
    ----------
    labels : int32 [H, W], the leaf region 0 .. L - 1 of every pixel; each has at least one.
    merges : int32 [L - 1, 2], the two nodes that each merge joins, in the order in which they are merged.
    parts : regions that the source itself tells apart, such as masks: the first L - parts merges stay within them.
    cell : the side in pixels, if the leaves are the squares of a grid, row by row; at the border they may be cut.
    """

    labels: np.ndarray
    merges: np.ndarray
    parts: int = 1
    cell: int | None = None

    def __len__(self) -> int:
        """Number of nodes, 2 L - 1."""
        return 2 * self.leaves - 1

    @property
    def leaves(self) -> int:
        """Number of leaf regions L."""
        return len(self.merges) + 1

    @cached_property
    def parent(self) -> np.ndarray:
        """The node that each node is merged into, -1 for the whole image, int32 [N]."""
        return parents_of(self.merges)

    @cached_property
    def tree(self) -> Tree:
        """The nodes in the form that reductions need."""
        return Tree.of(self.parent)

    @cached_property
    def areas(self) -> np.ndarray:
        """Pixels of every node, int64 [N]."""
        if self.cell is not None:
            return sum_up(self.tree, block_counts(*self.labels.shape, self.cell).ravel()).astype(np.int64)
        return sum_up(self.tree, np.bincount(self.labels.ravel(), minlength=self.leaves)).astype(np.int64)

    @cached_property
    def boxes(self) -> np.ndarray:
        """Pixels (x0, y0, x1, y1), end excluded, that enclose every node, int32 [N, 4]."""
        leaf = self._leaf_boxes.astype(np.float64)
        low, high = boxes_up(self.tree, leaf[:, :2], leaf[:, 2:])
        return np.concatenate([low, high], axis=1).astype(np.int32)

    def cut(self, count: int) -> np.ndarray:
        """The regions that are left when all but the last ``count - 1`` merges are done: labels int32 [H, W]."""
        count = min(count, self.leaves)
        alive = np.arange(len(self)) <= len(self) - count
        top = np.append(self.parent[:-1] > len(self) - count, True)
        return self.shown(np.flatnonzero(alive & top))

    def shown(self, nodes: np.ndarray) -> np.ndarray:
        """The entry of ``nodes`` [K] (none above another) that holds each pixel, -1 for none: int32 [H, W]."""
        entry = np.full(len(self), -1, np.int32)
        entry[nodes] = np.arange(len(nodes), dtype=np.int32)
        _inherit(self.merges, entry)
        if self.cell is None:
            return entry[self.labels]
        height, width = self.labels.shape
        shown = entry[self.labels[:: self.cell, :: self.cell]].repeat(self.cell, axis=1)[:, :width]
        return shown.repeat(self.cell, axis=0)[:height]

    @property
    def _leaf_boxes(self) -> np.ndarray:
        if self.cell is None:
            return region_boxes(self.labels, self.leaves)
        corner = np.indices(self.labels[:: self.cell, :: self.cell].shape)[::-1].reshape(2, -1).T * self.cell
        return np.concatenate([corner, np.minimum(corner + self.cell, self.labels.shape[::-1])], axis=1)


def parents_of(merges: np.ndarray) -> np.ndarray:
    """The node that each of the 2 L - 1 nodes is merged into, -1 for the last, int32; see `RegionTree.merges`."""
    nodes = 2 * len(merges) + 1
    parent = np.full(nodes, -1, np.int32)
    parent[merges] = np.arange(len(merges) + 1, nodes, dtype=np.int32)[:, None]
    return parent


def sum_up(tree: Tree, leaves: np.ndarray) -> np.ndarray:
    """Sum of the values [L] of the leaves below every node, float64 [N]."""
    return reduce_up(tree, leaves.astype(np.float64)[:, None], "sum")[:, 0]


@njit(cache=True)
def _inherit(merges, entry):
    for k in range(len(merges) - 1, -1, -1):
        node = len(merges) + 1 + k
        if entry[node] >= 0:
            entry[merges[k, 0]] = entry[node]
            entry[merges[k, 1]] = entry[node]


@njit(cache=True, nogil=True)
def region_boxes(labels, count):
    """Pixels (x0, y0, x1, y1), end excluded, that enclose each label (-1 is none): int32 [count, 4]."""
    height, width = labels.shape
    boxes = np.empty((count, 4), np.int32)
    boxes[:, 0], boxes[:, 1], boxes[:, 2:] = width, height, 0
    for y in range(height):
        x = 0
        while x < width:
            end = run_end(labels[y], x, width)
            region = labels[y, x]
            if region >= 0:
                box = boxes[region]
                box[0], box[1] = min(box[0], x), min(box[1], y)
                box[2], box[3] = max(box[2], end), max(box[3], y + 1)
            x = end
    return boxes


@njit(cache=True, nogil=True)
def run_end(row, x, limit):
    """Where the run of equal labels that holds ``x`` ends, at most ``limit``."""
    label = row[x]
    x += 1
    while x < limit and row[x] == label:
        x += 1
    return x
