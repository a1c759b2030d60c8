"""Which groups share a page: level by level, each time the nearest one that still fits."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.model.hierarchy import Hierarchy


def near_order(hierarchy: Hierarchy, cluster_bytes: np.ndarray, limit: int) -> np.ndarray:
    """Clusters [N] in the order of pages: the base, then groups by level, near groups in one page.

    Views want a part of a level, so what lies together is wanted together; coarse levels come first, so that whatever a
    group refines lies in the same page or before it.

    Parameters
    ----------
    cluster_bytes : int64 [N]; limit : bytes of a page.
    """
    groups, rank = len(hierarchy), np.empty(len(hierarchy) + 1, np.int64)
    member = np.flatnonzero(hierarchy.added_by >= 0)
    added_by = hierarchy.added_by[member]
    size = np.bincount(added_by, cluster_bytes[member], groups).astype(np.int64)
    center, count = hierarchy.attribute("center")[member].astype(np.float64), np.bincount(added_by, minlength=groups)
    middle = np.stack([np.bincount(added_by, center[:, axis], groups) / count for axis in range(3)], axis=1)
    base = int(cluster_bytes[hierarchy.added_by < 0].sum())
    rank[_near_order(hierarchy.level_offsets, middle.reshape(-1, 3), size, base, limit)] = np.arange(groups)
    rank[-1] = -1
    return np.argsort(rank[hierarchy.added_by], kind="stable")


@njit(cache=True)
def _near_order(levels, middle, size, used, limit):
    """Groups [R] in the order of pages, the first of which holds ``used`` bytes already."""
    order, taken = np.empty(size.size, np.int64), np.zeros(size.size, np.bool_)
    here, placed, fresh = np.zeros(3), 0, True
    for level in range(levels.size - 1):
        for _ in range(levels[level], levels[level + 1]):
            best, nearest = -1, np.inf
            for g in range(levels[level], levels[level + 1]):
                if not taken[g] and used + size[g] <= limit:
                    distance = 0.0 if fresh else ((middle[g] - here) ** 2).sum()
                    if distance < nearest:
                        best, nearest = g, distance
            if best < 0:  # nothing fits: a new page begins with the first group that is left
                best = levels[level]
                while taken[best]:
                    best += 1
                used, fresh = 0, True
            # Half of the way to the newest group: pages grow around their middle, not away from it.
            here = middle[best] if fresh else 0.5 * (here + middle[best])
            order[placed], taken[best], fresh = best, True, False
            used += size[best]
            placed += 1
    return order
