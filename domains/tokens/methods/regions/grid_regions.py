"""The grid as an atlas whose regions are blocks of patches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.methods.regions.region_source import RegionSource, patch_grid, patch_labels
from hra.domains.tokens.methods.regions.region_tree import RegionTree


@dataclass(frozen=True)
class GridRegions(RegionSource):
    """Patches merged two by two, in turn beside and below each other, whatever they show: the degenerate atlas.

    Every second step gives the square patches of the pyramid.
    """

    def build(self, context: TokenContext) -> RegionTree:
        """The merge tree of the grid of finest patches."""
        merges = grid_merges(patch_grid(context), int(np.prod(context.grid)))
        return RegionTree(patch_labels(context), merges, cell=context.patch)


def grid_merges(grid: np.ndarray, first: int) -> np.ndarray:
    """Merges of neighbouring cells up to one, alternately along rows and columns.

    Parameters
    ----------
    grid : int [rows, columns], the node of each cell, -1 where there is none; blocks without any cell are left out.
    first : the number of the first new node.

    Returns
    -------
    int32 [cells - 1, 2], see `RegionTree.merges`.
    """
    parts = [np.empty((0, 2), np.int32)]
    while grid.size > 1:
        for _ in range(2):
            grid, merged = _pair(grid, first)
            parts.append(merged)
            first += len(merged)
            grid = grid.T
    return np.concatenate(parts).astype(np.int32)


def _pair(grid: np.ndarray, first: int) -> tuple[np.ndarray, np.ndarray]:
    """Cells joined with their right neighbours; the new grid, and the merges."""
    padded = np.pad(grid, ((0, 0), (0, grid.shape[1] % 2)), constant_values=-1)
    left, right = padded[:, ::2], padded[:, 1::2]
    both = (left >= 0) & (right >= 0)
    joined = np.maximum(left, right)
    joined[both] = first + np.arange(both.sum())
    return joined, np.stack([left[both], right[both]], axis=1)
