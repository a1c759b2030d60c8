"""Who lies under whom in a patch pyramid."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from hra.model.arrays import frozen

Grids = tuple[tuple[int, int], ...]


class Quadtree(NamedTuple):
    """Who lies under whom in a patch pyramid, numbered as in `PatchPyramid`.

    parent : int32 [N], -1 for the coarsest level, whose first patch is number ``first_root``.
    offsets, children : int32 [N + 1] and [N - roots], the children of each patch in ascending order.
    """

    parent: np.ndarray
    offsets: np.ndarray
    children: np.ndarray
    first_root: int


@lru_cache(maxsize=32)
def quadtree(grids: Grids) -> Quadtree:
    """The quadtree of levels of (rows, columns) patches, from fine to coarse; kept for a few sizes."""
    begin = np.cumsum([0] + [rows * columns for rows, columns in grids])
    parent = np.full(begin[-1], -1, np.int32)
    for level, (rows, columns) in enumerate(grids[:-1]):
        y, x = np.divmod(np.arange(rows * columns), columns)
        parent[begin[level] : begin[level + 1]] = begin[level + 1] + y // 2 * grids[level + 1][1] + x // 2
    child = np.flatnonzero(parent >= 0)
    offsets = np.append(0, np.cumsum(np.bincount(parent[child], minlength=parent.size))).astype(np.int32)
    children = child[np.argsort(parent[child], kind="stable")].astype(np.int32)
    return Quadtree(frozen(parent), frozen(offsets), frozen(children), int(begin[-2]))
