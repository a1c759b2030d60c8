"""When the item of each reference is demanded next."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def next_references(demands: np.ndarray, count: int) -> np.ndarray:
    """Position of the next reference to the same item, int64 [D].

    After its last reference, item i gets D + i: no two references share a next one, and it still tells the item
    (`item_of`).
    """
    coming, following = np.arange(demands.size, demands.size + count), np.empty(demands.size, np.int64)
    for r in range(demands.size - 1, -1, -1):
        following[r] = coming[demands[r]]
        coming[demands[r]] = r
    return following


@njit(cache=True)
def item_of(reference: int, demands: np.ndarray) -> int:
    """The item of a reference, or of what `next_references` says after the last one."""
    return demands[reference] if reference < demands.size else reference - demands.size


@njit(cache=True)
def still_to_come(heap: list, now: int) -> list:
    """A heap of negated references without those up to ``now``."""
    return [entry for entry in heap if -entry > now]
