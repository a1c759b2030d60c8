"""Preorder of a forest, largest subtree last."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit


@njit(cache=True, nogil=True)
def preorder(parent):
    """Positions in a depth-first order in which every subtree is contiguous.

    The largest subtree of each refinement comes last, so that at most log2(n) subtrees that end at different places are
    open at a time.

    Parameters
    ----------
    parent : int32 [n], -1 for roots, ``parent[r] < r``.

    Returns
    -------
    order : int32 [n], refinements by position; position : int32 [n]; size : int32 [n], of the subtree of a refinement.
    """
    n = parent.size
    size, largest = np.ones(n, np.int32), np.full(n, -1, np.int32)
    # Parents have smaller numbers: backwards, the size of r is complete before it is added to that of its parent.
    for r in range(n - 1, -1, -1):
        p = parent[r]
        if p >= 0:
            size[p] += size[r]
            if largest[p] < 0 or size[r] > size[largest[p]]:
                largest[p] = r
    order, position, free, next_root = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32), 0
    for r in range(n):
        p = parent[r]
        if p < 0:
            position[r] = next_root
            next_root += size[r]
        elif largest[p] == r:
            # At the end of its parent's range. Any other child has at most half of the parent's subtree, so that a
            # path meets at most log2(n) of them (heavy paths: Sleator and Tarjan 1983).
            position[r] = position[p] + size[p] - size[r]
        else:
            position[r] = free[p]
            free[p] += size[r]
        free[r] = position[r] + 1
        order[position[r]] = r
    return order, position, size
