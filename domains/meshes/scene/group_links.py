"""Groups of a cluster mesh as a graph of their own: clusters of one group have one distance, and need no loop."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hra.compiling import njit
from hra.model.hierarchy import Hierarchy


class GroupLinks(NamedTuple):
    """What each group adds that finer groups replace, and which source clusters.

    Attributes
    ----------
    first : int64 [R + 1], where the links of each group begin; ``finer`` int64 [E], the group at the other end.
    part : float64 [E], of the area of the finer group's clusters; ``drop`` [E], times the squared distance saved.
    sources : int64 [S], source clusters; ``source_of`` int64 [S], the group that adds each, or -1.
    source_error, source_drop : float64 [S], squared distance that each has, and that its group saves.
    """

    first: np.ndarray
    finer: np.ndarray
    part: np.ndarray
    drop: np.ndarray
    sources: np.ndarray
    source_of: np.ndarray
    source_error: np.ndarray
    source_drop: np.ndarray


def links_of(hierarchy: Hierarchy, square: np.ndarray) -> GroupLinks | None:
    """The links between groups, by squared distances [N]; None where these differ in a group, or are not monotone."""
    (removed_at, removed), added_by, removed_by = hierarchy.removed_nodes, hierarchy.added_by, hierarchy.removed_by
    surface, even, own = _groups(removed_at, removed, hierarchy.attribute("area"), square)
    if not even:
        return None
    at, finer, part = _links(*hierarchy.added_nodes, removed_by, surface)
    drop = part * (np.repeat(own, np.diff(at)) - own[finer])
    sources = np.flatnonzero(removed_by < 0)
    source_of, source_error = added_by[sources].astype(np.int64), square[sources]
    source_drop = np.where(source_of >= 0, own[source_of] - source_error, 0.0) if own.size else 0.0 * source_error
    if min(drop.min(initial=0.0), source_drop.min(initial=0.0)) < 0.0:
        return None
    return GroupLinks(at, finer, part, drop, sources, source_of, source_error, source_drop)


@njit(cache=True)
def _groups(removed_at, removed, area, square):
    """The part of each cluster [N] in its group's area, whether distances of groups are even, and these [R]."""
    part, even, own = np.zeros(area.size), True, np.empty(removed_at.size - 1)
    for r in range(own.size):
        surface, count = 0.0, removed_at[r + 1] - removed_at[r]
        for k in range(removed_at[r], removed_at[r + 1]):
            surface += area[removed[k]]
        own[r] = square[removed[removed_at[r]]] if count > 0 else 0.0
        for k in range(removed_at[r], removed_at[r + 1]):
            v = removed[k]
            part[v] = area[v] / surface if surface > 0.0 else 1.0 / count
            even = even and square[v] == own[r]
    return part, even, own


@njit(cache=True)
def _links(added_at, added, removed_by, part):
    """Offsets [R + 1], and for each link the finer group and its part: those of its clusters together."""
    first, count = np.zeros(added_at.size, np.int64), 0
    finer, parts, place = np.empty(added.size, np.int64), np.empty(added.size), np.full(added_at.size, -1)
    for r in range(added_at.size - 1):
        for k in range(added_at[r], added_at[r + 1]):
            v, other = added[k], removed_by[added[k]]
            if other < 0:
                continue
            if place[other] < first[r]:
                place[other], finer[count], parts[count] = count, other, 0.0
                count += 1
            parts[place[other]] += part[v]
        first[r + 1] = count
    return first, finer[:count].copy(), parts[:count].copy()
