"""In which order wanted items are loaded."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit


def priority_order(items: np.ndarray, gain: np.ndarray, cost: np.ndarray, parents: np.ndarray) -> np.ndarray:
    """Positions of ``items`` [n] by falling gain per byte, each after its parent, ties by id; int64 [n].

    Parameters
    ----------
    gain : float64 [n], of each item.
    cost, parents : int [N], of all items; a negative parent is none.
    """
    rank, depth = _ranks(items, gain, cost, parents)
    return np.lexsort((items, depth, -rank))


@njit(cache=True)
def _ranks(items, gain, cost, parents):
    """Gain per byte, at most that of any ancestor among the items, and the number of those ancestors."""
    position = np.full(cost.size, -1, np.int32)
    for k in range(items.size):
        position[items[k]] = k
    rank, depth = np.empty(items.size), np.zeros(items.size, np.int32)
    for k in range(items.size):
        rank[k] = gain[k] / cost[items[k]]
        above = parents[items[k]]
        while above >= 0 and position[above] >= 0:
            rank[k] = min(rank[k], gain[position[above]] / cost[above])
            depth[k] += 1
            above = parents[above]
    return rank, depth
