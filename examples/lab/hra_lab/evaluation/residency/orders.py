"""Orders of clusters in pages, each as the page of every cluster; the first is the library's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from hra.domains.meshes.asset.body import near_order
from hra.domains.meshes.asset.packing import page_ends
from hra.kernels.trees.points.building import morton_codes
from hra.model.hierarchy import Hierarchy

Order = Callable[[Hierarchy, np.ndarray, int], np.ndarray]


def pages(hierarchy: Hierarchy, size: np.ndarray, limit: int, order: Order) -> np.ndarray:
    """The page of each cluster, int64 [N], in pages of at most ``limit`` bytes; ``size`` [N] are those of clusters."""
    stored = order(hierarchy, size, limit)
    groups = hierarchy.added_by[stored]
    runs = np.cumsum(np.diff(groups, prepend=groups[:1]) != 0)
    ends = page_ends(size[stored], runs, limit)
    page = np.empty(len(stored), np.int64)
    page[stored] = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    return page


def _by(rank: np.ndarray, hierarchy: Hierarchy) -> np.ndarray:
    """Clusters by rising rank [R] of their groups, the base first."""
    return np.argsort(np.append(rank, -1)[hierarchy.added_by], kind="stable")


def by_level(hierarchy: Hierarchy, size: np.ndarray, limit: int) -> np.ndarray:
    """Groups as they are numbered, level by level: version 1 of the format."""
    return _by(np.arange(len(hierarchy)), hierarchy)


def by_space(hierarchy: Hierarchy, size: np.ndarray, limit: int) -> np.ndarray:
    """Groups along a Morton curve, whatever their level."""
    rank = np.empty(len(hierarchy), np.int64)
    rank[np.argsort(morton_codes(_middles(hierarchy)), kind="stable")] = np.arange(len(hierarchy))
    return _by(rank, hierarchy)


def by_group(hierarchy: Hierarchy, size: np.ndarray, limit: int) -> np.ndarray:
    """Each page begins with the coarsest group that is left and takes what builds on its own groups, nearest first."""
    return _by(np.argsort(_treelets(hierarchy, size, limit)), hierarchy)


def _treelets(hierarchy: Hierarchy, size: np.ndarray, limit: int) -> np.ndarray:
    member = hierarchy.added_by >= 0
    bytes_of = np.bincount(hierarchy.added_by[member], size[member], len(hierarchy))
    middle, (begins, predecessors) = _middles(hierarchy), hierarchy.predecessors
    (first, successors), waiting = hierarchy.successors, np.diff(begins).copy()
    ready, order, page = set(np.flatnonzero(waiting == 0).tolist()), [], []
    used = float(size[~member].sum())
    while ready:
        fits = [g for g in ready if used + bytes_of[g] <= limit] if order else list(ready)
        if not fits:
            used, page, fits = 0.0, [], list(ready)
        inside, place = set(page), middle[page].mean(axis=0) if page else None
        pick = min(fits, key=lambda g: _distance(predecessors[begins[g] : begins[g + 1]], inside, middle[g], place, g))
        ready.discard(pick)
        order.append(pick)
        page.append(pick)
        used += bytes_of[pick]
        for g in successors[first[pick] : first[pick + 1]].tolist():
            waiting[g] -= 1
            if not waiting[g]:
                ready.add(g)
    return np.array(order, np.int64)


def _distance(
    needs: np.ndarray, inside: set[int], middle: np.ndarray, place: np.ndarray | None, group: int
) -> tuple[float, float, int]:
    """How badly a group fits into a page: what it needs from elsewhere, then how far away it is."""
    if place is None:
        return 0.0, 0.0, group
    return -sum(g in inside for g in needs.tolist()) / max(len(needs), 1), float(np.linalg.norm(middle - place)), group


def _middles(hierarchy: Hierarchy) -> np.ndarray:
    """The mean centre of each group's members, float64 [R, 3]."""
    member = hierarchy.added_by >= 0
    groups, center = hierarchy.added_by[member], hierarchy.attribute("center")[member].astype(np.float64)
    count = np.bincount(groups, minlength=len(hierarchy))
    return np.stack([np.bincount(groups, center[:, k], len(hierarchy)) / count for k in range(3)], axis=1)


ORDERS: Mapping[str, Order] = {
    "near groups of a level": near_order,
    "by level": by_level,
    "by space": by_space,
    "by group": by_group,
}
"""By name; the first is what compressed files have."""
