"""How coarse items are."""

from __future__ import annotations

import numpy as np
from numba import njit

from hra.residency.trace import Trace


def levels(trace: Trace) -> np.ndarray:
    """The level of each item, int32 [N]: 0 for the deepest, one more for each step towards the coarsest.

    Items that do not depend on each other are all of level 0.
    """
    count = trace.cost.size
    return np.zeros(count, np.int32) if trace.parents is None or count == 0 else _levels(trace.parents)


@njit(cache=True)
def _levels(parents):
    depth = np.zeros(parents.size, np.int32)
    for i in range(parents.size):
        if parents[i] >= 0:
            depth[i] = depth[parents[i]] + 1
    return depth.max() - depth
