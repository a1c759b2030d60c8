"""Errors of the clusters of many placed copies at once: what `displacement` does for one, for budgets.

The innermost loops run over copies, which share clusters and their order, and are vectorised.
"""

from __future__ import annotations

import numpy as np

from hra.camera.placed_boxes import leave_out, lenses, pixels_per_unit, planes_between
from hra.compiling import njit
from hra.domains.meshes.displacement import MEAN_FACING
from hra.domains.meshes.placed_views import PlacedViews
from hra.model.hierarchy import Hierarchy


def placed_mean_squares(hierarchy: Hierarchy, distances: np.ndarray, seen: PlacedViews, result: np.ndarray) -> None:
    """Fill ``result`` [N, B] with `hra.domains.meshes.displacement.mean_squares` of each copy, summed over views, px2.

    Parameters
    ----------
    distances : [N], object units.
    seen : views without a gaze.
    """
    boxes, area = hierarchy.attribute("box"), hierarchy.attribute("area")
    sources = np.flatnonzero(hierarchy.removed_by < 0)
    for k, (view, eye) in enumerate(zip(seen.views, seen.eyes, strict=True)):
        width, height = view.camera.viewport
        share = MEAN_FACING / (width * height)
        _weigh(eye, seen.placements, boxes, sources, area, view.weight, share, k == 0, result)
    order = (*hierarchy.added_nodes, *hierarchy.removed_nodes, np.flatnonzero(hierarchy.added_by < 0))
    _spread(*order, area, np.square(distances.astype(np.float64)), result)


@njit(cache=True, error_model="numpy")
def _weigh(eye, placements, boxes, sources, area, weight, share, is_first, result):
    """Add to ``result`` [N, B] what a squared error of one unit in each source cluster counts in a view."""
    rows, planes, scale = lenses(eye, placements)
    between, pixels = planes_between(planes, _around(boxes, sources)), np.empty(result.shape[1])
    for v in sources:
        pixels_per_unit(eye, rows, scale, boxes[v], pixels)
        leave_out(between, boxes[v], pixels)
        if is_first:
            result[v] = 0.0
        _add(pixels, np.float64(area[v]) * share, weight, result[v])


@njit(cache=True, error_model="numpy")
def _around(boxes, sources):
    """The box [2, 3] around the ``boxes`` of the sources."""
    result = boxes[sources[0]].copy()
    for v in sources:
        for j in range(3):
            result[0, j], result[1, j] = min(result[0, j], boxes[v, 0, j]), max(result[1, j], boxes[v, 1, j])
    return result


@njit(cache=True, error_model="numpy")
def _add(pixels, covered, weight, result):
    for i in range(result.size):
        square = pixels[i] * pixels[i]
        part = covered * square
        result[i] += weight * square * (part if part < 1.0 else 1.0)


@njit(cache=True, error_model="numpy")
def _spread(added_at, added, removed_at, removed, base, area, square, result):
    """Pass weights on from fine to coarse, in shares of ``area``, and turn them into errors by ``square`` [N].

    A weight becomes an error once its group has passed it on; nothing passes on those of the ``base``.
    """
    total = np.empty(result.shape[1])
    for r in range(added_at.size - 2, -1, -1):
        total[:] = 0.0
        for k in range(added_at[r], added_at[r + 1]):
            _gather(result[added[k]], square[added[k]], total)
        surface, count = 0.0, removed_at[r + 1] - removed_at[r]
        for k in range(removed_at[r], removed_at[r + 1]):
            surface += area[removed[k]]
        for k in range(removed_at[r], removed_at[r + 1]):
            share = area[removed[k]] / surface if surface > 0.0 else 1.0 / count
            _scale(total, share, result[removed[k]])
    for v in base:
        _gather(result[v], square[v], total)


@njit(cache=True, error_model="numpy")
def _gather(weight, square, total):
    for i in range(weight.size):
        total[i] += weight[i]
        weight[i] *= square


@njit(cache=True, error_model="numpy")
def _scale(total, share, result):
    for i in range(result.size):
        result[i] = total[i] * share
