"""Gains of the groups of many placed copies at once: what `displacement` does for one, for budgets.

The innermost loops run over copies, which share clusters and their order, and are vectorised.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.domains.meshes.scene.group_links import links_of
from hra.domains.meshes.scene.placed_boxes import square_pixels_per_unit
from hra.domains.meshes.scene.placed_eye import lenses
from hra.domains.meshes.scene.placed_view import leave_out, planes_between
from hra.domains.meshes.scene.placed_views import PlacedViews
from hra.domains.meshes.selection.displacement import MEAN_FACING
from hra.model.hierarchy import Hierarchy

# Copies at a time: what is known of them stays in the cache.
_LANES = 64


def placed_gains(
    hierarchy: Hierarchy, distances: np.ndarray, seen: PlacedViews, gain: np.ndarray, least_error: np.ndarray
) -> bool:
    """Fill the gains [R, B] of each copy, and the errors [B] left at full detail, summed over views, px2.

    They follow from `hra.domains.meshes.selection.displacement.mean_squares`.

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
    weight, saved = np.empty((2, len(hierarchy), _LANES))
    least_error[:] = 0.0
    for begin in range(0, len(seen), _LANES):
        placements = seen.placements[begin : begin + _LANES]
        weight[:], saved[:] = 0.0, 0.0
        left = least_error[begin : begin + _LANES]
        for view, eye in zip(seen.views, seen.eyes, strict=True):
            share = MEAN_FACING / (view.camera.viewport[0] * view.camera.viewport[1])
            _weigh(eye, placements, boxes, area, links, view.weight, share, weight, saved, left)
        _spread(links, weight, saved, gain[:, begin : begin + _LANES])
    return True


@njit(cache=True, error_model="numpy")
def _weigh(eye, placements, boxes, area, links, weight_of_view, share, weight, saved, left):
    """Add what a squared error of one unit in each source cluster counts in a view.

    ``weight`` [R, lanes] is that of all source clusters that a group adds; ``saved`` is what it saves of them.
    """
    rows, planes, scale = lenses(eye, placements)
    count = placements.shape[0]
    between, pixels = planes_between(planes, _around(boxes, links.sources)), np.empty(count)
    for s in range(links.sources.size):
        v, r = links.sources[s], links.source_of[s]
        square_pixels_per_unit(eye, rows, scale, boxes[v], pixels)
        leave_out(between, boxes[v], pixels)
        _cover(pixels, np.float64(area[v]) * share, weight_of_view)
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
    """Pass weights [R, lanes] on from fine to coarse, and fill ``gain`` with what of their errors each group saves."""
    for r in range(links.first.size - 2, -1, -1):
        for k in range(links.first[r], links.first[r + 1]):
            _pass(weight[links.finer[k]], links.part[k], links.drop[k], weight[r], saved[r])
        for i in range(gain.shape[1]):
            gain[r, i] = saved[r, i]


@njit(cache=True, error_model="numpy")
def _pass(finer, part, drop, own, saved):
    for i in range(own.size):
        own[i] += part * finer[i]
        saved[i] += drop * finer[i]


@njit(cache=True, error_model="numpy")
def _add(values, factor, total):
    for i in range(values.size):
        total[i] += factor * values[i]
