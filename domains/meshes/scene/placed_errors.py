"""Gains of the groups of many placed copies at once: what `displacement` does for one, for budgets.

Clusters of one group have one distance, so the groups are a graph of their own, and no loop runs over clusters. The
innermost loops run over copies, which share clusters and their order, and are vectorised. `PlacedViews` are the views
of the world, brought to each copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, overload

import numpy as np

from hra.caching import cached_property
from hra.camera.view import View
from hra.compiling import njit
from hra.domains.meshes.metrics.displacement import MEAN_FACING
from hra.domains.meshes.scene.placed_camera import Eye, leave_out, lenses, planes_between, square_pixels_per_unit
from hra.model.hierarchy import Hierarchy

# Copies at a time: what is known of them stays in the cache.
_BLOCK = 64


def placed_gains(
    hierarchy: Hierarchy, distances: np.ndarray, seen: PlacedViews, gain: np.ndarray, least_error: np.ndarray
) -> bool:
    """Fill the gains [R, B] of each copy, and the errors [B] left at full detail, summed over views, px2.

    They follow from `hra.domains.meshes.metrics.displacement.mean_squares`.

    Parameters
    ----------
    distances : [N], object units.
    seen : views without a gaze.

    Returns
    -------
    Whether it did: not where the ``distances`` of a group differ, or fall from fine to coarse.
    """
    links = links_of(hierarchy, np.square(distances.astype(np.float64)))
    if links is None:
        return False
    boxes, area = hierarchy.attribute("box"), hierarchy.attribute("area")
    # Used again for each block: rows of all copies lie too far apart to be added to often.
    weight, saved = np.empty((2, len(hierarchy), _BLOCK))
    least_error[:] = 0.0
    for begin in range(0, len(seen), _BLOCK):
        placements = seen.placements[begin : begin + _BLOCK]
        weight[:], saved[:] = 0.0, 0.0
        left = least_error[begin : begin + _BLOCK]
        for view, eye in zip(seen.views, seen.eyes, strict=True):
            share = MEAN_FACING / (view.camera.viewport[0] * view.camera.viewport[1])
            _weigh(eye, placements, boxes, area, links, view.weight, share, weight, saved, left)
        _spread(links, weight, saved, gain[:, begin : begin + _BLOCK])
    return True


@njit(cache=True, error_model="numpy")
def _weigh(eye, placements, boxes, area, links, weight_of_view, share, weight, saved, left):
    """Add what a squared error of one unit in each source cluster counts in a view.

    ``weight`` [R, copies] is that of all source clusters that a group adds; ``saved`` is what it saves of them.
    """
    rows, planes, scale = lenses(eye, placements)
    count = placements.shape[0]
    between, pixels = planes_between(planes, _around(boxes, links.sources)), np.empty(count)
    for s in range(links.sources.size):
        v, r = links.sources[s], links.source_of[s]
        square_pixels_per_unit(eye, rows, scale, boxes[v], pixels)
        leave_out(between, boxes[v], pixels)
        _cover(pixels, np.float64(area[v]) * share, weight_of_view)
        # Sources on a grid have an error of their own, which no cut takes away.
        if links.source_error[s] > 0.0:
            _add(pixels, links.source_error[s], left)
        if r >= 0:
            _add(pixels, 1.0, weight[r])
            _add(pixels, links.source_drop[s], saved[r])


@njit(cache=True, error_model="numpy")
def _around(boxes, sources):
    """The box [2, 3] around the ``boxes`` of the sources."""
    result = boxes[sources[0]].copy()
    for v in sources:
        for j in range(3):
            result[0, j], result[1, j] = min(result[0, j], boxes[v, 0, j]), max(result[1, j], boxes[v, 1, j])
    return result


@njit(cache=True, error_model="numpy")
def _cover(squares, covered, weight):
    """Turn square pixels per unit of area into weights in place."""
    for i in range(squares.size):
        part = covered * squares[i]
        squares[i] *= weight * (part if part < 1.0 else 1.0)


@njit(cache=True, error_model="numpy")
def _spread(links, weight, saved, gain):
    """Pass weights [R, copies] on from fine to coarse, and fill ``gain`` with what of their errors each group saves."""
    # Groups are in level order: backwards, all that a group passes on is complete.
    for r in range(links.first.size - 2, -1, -1):
        for k in range(links.first[r], links.first[r + 1]):
            _pass(weight[links.finer[k]], links.part[k], links.drop[k], weight[r], saved[r])
        for i in range(gain.shape[1]):
            gain[r, i] = saved[r, i]


@njit(cache=True, error_model="numpy")
def _pass(finer, part, drop, own, saved):
    for i in range(own.size):
        own[i] += part * finer[i]
        # (d_own**2 - d_finer**2) times the weight beneath: summed over a cut these are the differences of its errors.
        saved[i] += drop * finer[i]


@njit(cache=True, error_model="numpy")
def _add(values, factor, total):
    for i in range(values.size):
        total[i] += factor * values[i]


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


@dataclass(frozen=True, eq=False)
class PlacedViews(Sequence[tuple[View, ...]]):
    """The views in the coordinates of each copy, made one by one when they are asked for.

    Attributes
    ----------
    views : of the world.
    placements : float64 [B, 4, 4], object to world.
    """

    views: tuple[View, ...]
    placements: np.ndarray

    def __len__(self) -> int:
        return len(self.placements)

    @overload
    def __getitem__(self, index: int) -> tuple[View, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> PlacedViews: ...
    def __getitem__(self, index: int | slice) -> tuple[View, ...] | PlacedViews:
        """The views of one copy, or of several."""
        if isinstance(index, slice):
            part = PlacedViews(self.views, self.placements[index])
            part.__dict__["eyes"] = self.eyes
            return part
        return tuple(view.seen_from(self.placements[index]) for view in self.views)

    @cached_property
    def eyes(self) -> tuple[Eye, ...]:
        """The views' cameras, as compiled loops want them."""
        return tuple(Eye.of(view.camera) for view in self.views)

    def mean_square_gains(
        self, hierarchy: Hierarchy, distances: np.ndarray, gain: np.ndarray, least_error: np.ndarray
    ) -> bool:
        """See `placed_gains`."""
        return placed_gains(hierarchy, distances, self, gain, least_error)

    @property
    def even(self) -> bool:
        """Whether acuity is the same all over each view."""
        return all(view.even for view in self.views)
