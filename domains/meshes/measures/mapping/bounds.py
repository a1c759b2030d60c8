"""The bounds of one group, on both sides: what clusters are off at first, then no less than any two partners."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit_uncounted


@njit_uncounted(cache=True, nogil=True)
def fill_off(clusters, off, count, memory):
    """Give each vertex the largest of what the clusters around it are off, and the group the largest of all."""
    around, fine, bounds = memory.off, memory.fine, memory.bounds
    around[:count] = 0.0
    bounds[:] = 0.0
    for c in range(len(off)):
        for side in range(2):
            bounds[side] = max(bounds[side], off[c, side])
        for i in range(clusters[c] - clusters[0], clusters[c + 1] - clusters[0]):
            for side in range(2):
                around[fine[i], side] = max(around[fine[i], side], off[c, side])


@njit_uncounted(cache=True, nogil=True)
def raise_bounds(square, lost, added, bounds):
    """Raise the bounds to those of two partners: the triangle inequality, from the source over the fine surface."""
    # Roots only where a bound rises, which is seldom.
    if square > (bounds[0] - lost) ** 2 or square > (bounds[1] - added) ** 2:
        apart = np.sqrt(square)
        bounds[0], bounds[1] = max(bounds[0], lost + apart), max(bounds[1], added + apart)
