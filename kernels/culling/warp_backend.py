"""Projection of bounds in Warp, on the CPU (one thread) and on CUDA, where nothing leaves the device."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.kernels.arrays import on_host
from hra.kernels.culling.depth_view import DepthView, Project
from hra.kernels.pyramids.levels.layout import Layout
from hra.kernels.pyramids.levels.warp_backend import rect_reduce
from hra.kernels.warp_arrays import new, wp  # there Warp is told to be silent
from hra.kernels.warp_arrays import view as view_of

from hra.kernels.culling import warp_kernels  # isort: skip (launches must find Warp silent)


def project_boxes(boxes: Any, view: DepthView) -> tuple[Any, Any]:
    """See :func:`hra.kernels.culling.projection.project_boxes`; returns rectangles [K, 4] and depths [K]."""
    return _project(warp_kernels.project_boxes, boxes, view)


def project_spheres(spheres: Any, view: DepthView) -> tuple[Any, Any]:
    """See :func:`hra.kernels.culling.projection.project_spheres`; returns rectangles [K, 4] and depths [K]."""
    return _project(warp_kernels.project_spheres, spheres, view)


def visible(project: Project, bounds: Any, view: DepthView, data: Any, layout: Layout) -> Any:
    """See :func:`hra.kernels.culling.hiz.visible_boxes`; ``project`` is a function of this module."""
    rects, depth = project(bounds, view)
    farthest = rect_reduce(data, layout, rects, None, "min" if view.reversed_depth else "max", depth)
    result = _empty_like(depth, depth.shape, np.bool_)
    inputs = [view_of(depth), view_of(farthest), view.reversed_depth, view_of(result)]
    wp.launch(warp_kernels.in_front, depth.shape[0], inputs, device=_device(depth))
    return result


def _project(kernel: Any, bounds: Any, view: DepthView) -> tuple[Any, Any]:
    count = bounds.shape[0]
    rects, depth = _empty_like(bounds, (count, 4), np.int32), _empty_like(bounds, (count,), np.float32)
    inputs = [view_of(bounds), _lens(view), view_of(rects), view_of(depth)]
    wp.launch(kernel, count, inputs, device=_device(bounds))
    return rects, depth


def _lens(view: DepthView) -> Any:
    lens: Any = warp_kernels.Lens()
    normals = view.oriented[:, :3]
    matrix: Any = wp.mat44d
    lens.matrix = matrix(view.oriented)
    lens.planes = warp_kernels.Planes(view.planes)
    lens.products = matrix(normals @ normals.T)
    lens.lengths = warp_kernels.Lengths(np.linalg.norm(view.planes[:, :3], axis=1))
    lens.width, lens.height, lens.sign, lens.slack = view.width, view.height, view.sign, view.slack
    return lens


def _device(array: Any) -> Any:
    return "cpu" if on_host(array) else array.device


def _empty_like(array: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """A new array beside ``array``: NumPy on the host, else Warp."""
    if on_host(array):
        return np.empty(shape, dtype)
    return new(shape, wp.dtype_from_numpy(dtype), array.device)
