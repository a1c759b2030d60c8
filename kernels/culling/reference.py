"""Projection of bounds in plain NumPy: slow, obviously right, and what the other backends are tested against."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.kernels.culling.depth_view import ROUNDING, DepthView, Project
from hra.kernels.pyramids.levels.pyramid import Layout
from hra.kernels.pyramids.levels.reference import rect_reduce

_CORNERS = np.array([[(i, 0), (j, 1), (k, 2)] for i in (0, 1) for j in (0, 1) for k in (0, 1)])


def project_boxes(boxes: Any, view: DepthView) -> tuple[np.ndarray, np.ndarray]:
    """See :func:`hra.kernels.culling.projection.project_boxes`; returns rectangles [K, 4] and depths [K]."""
    boxes = boxes.astype(np.float64)
    corners = boxes[:, _CORNERS[..., 0], _CORNERS[..., 1]]
    with np.errstate(all="ignore"):  # boxes of NaN or behind the eye are sorted out at the end
        signed = _affine(corners, view.planes)
        clip = _affine(corners, view.oriented)
        ratio = clip[..., :3] / clip[..., 3:]
        low, high, w = ratio.min(axis=1), ratio.max(axis=1), clip[..., 3].min(axis=1)
        return _bounds(view, low, high, w, np.abs(boxes).max(axis=1), signed.min(axis=1), signed.max(axis=1))


def project_spheres(spheres: Any, view: DepthView) -> tuple[np.ndarray, np.ndarray]:
    """See :func:`hra.kernels.culling.projection.project_spheres`; returns rectangles [K, 4] and depths [K]."""
    spheres = spheres.astype(np.float64)
    center, radius = spheres[:, :3], np.where(spheres[:, 3] >= 0, spheres[:, 3], np.nan)[:, None]
    with np.errstate(all="ignore"):
        signed, reach = _affine(center, view.planes), radius * np.linalg.norm(view.planes[:, :3], axis=1)
        clip, normals = _affine(center, view.oriented), view.oriented[:, :3]
        low, high = _tangents(clip, normals @ normals.T, np.square(radius))
        w = clip[:, 3] - radius[:, 0] * np.linalg.norm(normals[3])
        return _bounds(view, low, high, w, np.abs(center) + radius, signed - reach, signed + reach)


def visible(project: Project, bounds: Any, view: DepthView, data: Any, layout: Layout) -> np.ndarray:
    """See :func:`hra.kernels.culling.hiz.visible_boxes`; ``project`` is a function of this module."""
    rects, depth = project(bounds, view)
    farthest = rect_reduce(data, layout, rects, None, "min" if view.reversed_depth else "max", depth)
    return ~(depth < farthest) if view.reversed_depth else ~(depth > farthest)  # NaN is in front


def _affine(points: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return points @ rows[:, :3].T + rows[:, 3]


def _tangents(clip: np.ndarray, products: np.ndarray, square: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Extremes [K, 3] of x / w, y / w, z / w: roots s of ``(c - s w)**2 = radius**2 |row - s last row|**2``."""
    w = clip[:, 3:]
    # a > 0 where the sphere lies before the eye (w > radius |last|), so that the smaller root comes first; see
    # `numba_projection` for the sign of the discriminant. Elsewhere the caller does not use the roots.
    a = w * w - square * products[3, 3]
    b = clip[:, :3] * w - square * products[3, :3]
    c = np.square(clip[:, :3]) - square * np.diag(products)[:3]
    root = np.sqrt(np.maximum(b * b - a * c, 0))
    return (b - root) / a, (b + root) / a


def _bounds(
    view: DepthView,
    low: np.ndarray,
    high: np.ndarray,
    w: np.ndarray,
    largest: np.ndarray,
    least: np.ndarray,
    most: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Rectangles and depths.

    Parameters
    ----------
    low, high : [K, 3], extremes of x, y, z over w.
    w : [K], the least w; largest : [K, 3], the largest coordinates.
    least, most : [K, 6], extremes of the distances from the planes, in units of w.
    """
    rounding = ROUNDING * _affine(largest, np.abs(view.oriented))
    # Half an image of |x / w| = 1 in pixels, times what x / w may be off by: (dx + |x / w| dw) / w, |x / w| <= 1 in
    # view.
    margin = np.array([view.width, view.height]) / 2 * (rounding[:, :2] + rounding[:, 3:]) / w[:, None]
    left, right = ((1 + x[:, 0]) * view.width / 2 for x in (low, high))
    top, bottom = ((1 - y[:, 1]) * view.height / 2 for y in (high, low))
    last = np.array([view.width, view.height]) - 1
    first_pixel = np.maximum(np.floor(np.stack([left, top], 1) - margin), 0)
    last_pixel = np.minimum(np.floor(np.stack([right, bottom], 1) + margin), last)
    # Reversed depth is z / w = -low at the nearest point, which bounds its own share of dw; else z / w <= 1.
    share = -low[:, 2] if view.reversed_depth else 1.0
    depth = view.sign * (low[:, 2] - view.slack - (rounding[:, 2] + share * rounding[:, 3]) / w)

    # A plane is w plus or minus x, y or z, or z alone: it is off by no more than both together.
    beyond = most < -(rounding[:, 3] + rounding[:, :3].max(axis=1))[:, None]
    finite = np.isfinite(largest).all(axis=1)
    # Negated as a whole: comparisons with NaN are false.
    whole = ~(finite & (least[:, 0] > 0) & (w > rounding[:, 3]))
    beside = np.where(whole, beyond[:, 2:].any(axis=1), (first_pixel > last_pixel).any(axis=1))
    outside = finite & (beyond[:, :2].any(axis=1) | beside)
    rects = np.concatenate([first_pixel, last_pixel], axis=1)
    rects[whole] = [0, 0, *last]
    rects[outside] = [0, 0, -1, -1]
    depth = np.where(outside, view.sign * np.inf, np.where(whole, -view.sign * np.inf, depth))
    return rects.astype(np.int32), depth.astype(np.float32)
