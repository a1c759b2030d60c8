"""Projection of bounds and occlusion culling by Numba; many bounds take a thread per core."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hra.kernels.culling import numba_projection
from hra.kernels.culling.depth_view import DepthView, Project
from hra.kernels.pyramids.levels.layout import Layout
from hra.kernels.pyramids.levels.numba_backend import rect_reduce
from hra.kernels.row_blocks import for_each, ranges


def project_boxes(boxes: Any, view: DepthView) -> tuple[np.ndarray, np.ndarray]:
    """See :func:`hra.kernels.culling.projection.project_boxes`; returns rectangles [K, 4] and depths [K]."""
    return _project(numba_projection.project_boxes, boxes.reshape(len(boxes), 6), (*_rows(view), _target(view)))


def project_spheres(spheres: Any, view: DepthView) -> tuple[np.ndarray, np.ndarray]:
    """See :func:`hra.kernels.culling.projection.project_spheres`; returns rectangles [K, 4] and depths [K]."""
    # All that the tangents need of the matrix beside the centre's clip coordinates is products of its rows.
    normals = view.oriented[:, :3]
    lengths = tuple(np.linalg.norm(view.planes[:, :3], axis=1).tolist())
    camera = *_rows(view), _tuples(normals @ normals.T), lengths, _target(view)
    return _project(numba_projection.project_spheres, spheres, camera)


def visible(project: Project, bounds: Any, view: DepthView, data: Any, layout: Layout) -> np.ndarray:
    """See :func:`hra.kernels.culling.hiz.visible_boxes`; ``project`` is a function of this module."""
    found = np.empty(len(bounds), np.bool_)
    reduce, is_hidden = ("min", np.less) if view.reversed_depth else ("max", np.greater)

    # Part by part, so that rectangles and depths are still in the cache when they are looked up.
    def work(part: slice) -> None:
        rects, depth = project(bounds[part], view)
        # The negation keeps NaN visible. With ``depth`` at hand the look-up refines rectangles that are not yet
        # decided.
        found[part] = ~is_hidden(depth, rect_reduce(data, layout, rects, None, reduce, depth))

    for_each(ranges(len(bounds)), bounds.nbytes, work)
    return found


def _project(kernel: Callable[..., None], bounds: np.ndarray, camera: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray]:
    rects, depth = np.empty((len(bounds), 4), np.int32), np.empty(len(bounds), np.float32)

    def work(part: slice) -> None:
        kernel(bounds[part], *camera, rects[part], depth[part])

    for_each(ranges(len(bounds)), bounds.nbytes, work)
    return rects, depth


def _rows(view: DepthView) -> tuple[tuple[tuple[float, ...], ...], ...]:
    """The rows of the matrix and the planes."""
    return _tuples(view.oriented), _tuples(view.planes)


def _tuples(matrix: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, matrix.tolist()))


def _target(view: DepthView) -> tuple[int, int, float, float]:
    return view.width, view.height, view.sign, view.slack
