"""Projection of bounds in Warp, on the CPU (one thread) and on CUDA, where nothing leaves the device.

One thread per box or sphere takes the same steps as `numba_backend`, in float64.
"""

# Warp compiles this file itself: its types are not Python types, and variables that a loop changes are declared by a
# cast.
# pyright: reportInvalidTypeForm=false, reportOperatorIssue=false, reportAssignmentType=false
# pyright: reportGeneralTypeIssues=false, reportArgumentType=false, reportCallIssue=false, reportReturnType=false
# pyright: reportAttributeAccessIssue=false, reportIndexIssue=false

from __future__ import annotations

from typing import Any

import numpy as np

from hra.kernels.backends import on_host
from hra.kernels.culling.depth_view import ROUNDING, DepthView, Project
from hra.kernels.pyramids.levels.pyramid import Layout
from hra.kernels.pyramids.levels.warp_backend import rect_reduce
from hra.kernels.warp_arrays import compiled_for, new, wp  # there Warp is told to be silent
from hra.kernels.warp_arrays import view as view_of

# Fused multiply-adds would round otherwise than the host does.
wp.set_module_options({"fuse_fp": False, "enable_backward": False})
_ROUNDING = wp.constant(wp.float64(ROUNDING))
_INF = wp.constant(wp.float64(float("inf")))
Planes = wp.types.matrix(shape=(6, 4), dtype=wp.float64)
Lengths = wp.types.vector(length=6, dtype=wp.float64)


@wp.struct
class Lens:
    """`DepthView` and what follows from it, for a kernel.

    ``products`` are the inner products of the matrix's rows without their last entries, ``lengths`` the lengths of the
    planes' normals.
    """

    matrix: wp.mat44d
    planes: Planes
    products: wp.mat44d
    lengths: Lengths
    width: int
    height: int
    sign: wp.float64
    slack: wp.float64


@wp.func
def _is_finite(value: wp.float64) -> bool:
    return wp.abs(value) < _INF


@wp.func
def _homogeneous(position: wp.vec3d) -> wp.vec4d:
    return wp.vec4d(position[0], position[1], position[2], wp.float64(1.0))


@wp.func
def _rounding(lens: Lens, largest: wp.vec4d) -> wp.vec4d:
    """Allowance for rounding of x, y, z and w of a point whose coordinates are at most ``largest``."""
    total = wp.vec4d()
    for row in range(4):
        total[row] = _ROUNDING * wp.dot(wp.abs(lens.matrix[row]), largest)
    return total


@wp.func
def _set(
    lens: Lens,
    k: int,
    whole: bool,
    rects: wp.array2d(dtype=wp.int32),
    depth: wp.array(dtype=wp.float32),
):
    """Store bounds that may be anywhere (``whole``) or nowhere."""
    rects[k, 0] = 0
    rects[k, 1] = 0
    rects[k, 2] = wp.where(whole, lens.width - 1, -1)
    rects[k, 3] = wp.where(whole, lens.height - 1, -1)
    depth[k] = wp.float32(wp.where(whole, -lens.sign * _INF, lens.sign * _INF))


@wp.func
def _is_beyond(most: Lengths, tolerance: wp.float64, sides: bool) -> bool:
    """Whether bounds lie before the near plane or behind the far plane; with ``sides`` also beside the frustum."""
    if sides:
        return wp.min(most) < -tolerance
    return wp.min(most[0], most[1]) < -tolerance


@wp.func
def _write(
    lens: Lens,
    k: int,
    low: wp.vec3d,
    high: wp.vec3d,
    least_w: wp.float64,
    rounding: wp.vec4d,
    rects: wp.array2d(dtype=wp.int32),
    depth: wp.array(dtype=wp.float32),
):
    """Store the rectangle and depth of bounds beyond the near plane, from extremes of x, y and z over w."""
    one = wp.float64(1.0)
    none = wp.float64(0.0)
    # As in `numba_projection._bounds`: what x / w may be off by in view, (dx + dw) / least_w, in pixels.
    half_width = wp.float64(0.5) * wp.float64(lens.width)
    half_height = wp.float64(0.5) * wp.float64(lens.height)
    margin_x = half_width * ((rounding[0] + rounding[3]) / least_w)
    margin_y = half_height * ((rounding[1] + rounding[3]) / least_w)
    # Floats are cut to the image before they become integers, which they might not fit.
    x0 = wp.floor(wp.max((one + low[0]) * half_width - margin_x, none))
    x1 = wp.floor(wp.min((one + high[0]) * half_width + margin_x, wp.float64(lens.width - 1)))
    y0 = wp.floor(wp.max((one - high[1]) * half_height - margin_y, none))
    y1 = wp.floor(wp.min((one - low[1]) * half_height + margin_y, wp.float64(lens.height - 1)))
    if x0 > x1 or y0 > y1:
        _set(lens, k, False, rects, depth)
        return
    rects[k, 0] = wp.int32(x0)
    rects[k, 1] = wp.int32(y0)
    rects[k, 2] = wp.int32(x1)
    rects[k, 3] = wp.int32(y1)
    # z / w is at most 1, and at most its value at the nearest point, -low[2], where depth is reversed.
    share = wp.where(lens.sign > none, one, -low[2])
    error = (rounding[2] + share * rounding[3]) / least_w
    depth[k] = wp.float32(lens.sign * (low[2] - lens.slack - error))


@compiled_for(wp.float32, wp.float64)
@wp.kernel
def box_rectangles(
    boxes: wp.array3d(dtype=Any), lens: Lens, rects: wp.array2d(dtype=wp.int32), depth: wp.array(dtype=wp.float32)
):
    """Rectangle and nearest depth of boxes [K, 2, 3]."""
    k = wp.tid()
    a = wp.vec3d(wp.float64(boxes[k, 0, 0]), wp.float64(boxes[k, 0, 1]), wp.float64(boxes[k, 0, 2]))
    b = wp.vec3d(wp.float64(boxes[k, 1, 0]), wp.float64(boxes[k, 1, 1]), wp.float64(boxes[k, 1, 2]))
    total = a + b
    if not _is_finite(total[0] + total[1] + total[2]):
        _set(lens, k, True, rects, depth)
        return
    rounding = _rounding(lens, _homogeneous(wp.max(wp.abs(a), wp.abs(b))))
    tolerance = wp.max(wp.max(rounding[0], rounding[1]), rounding[2]) + rounding[3]
    least_w = wp.float64(_INF)
    least_near = wp.float64(_INF)
    most = Lengths(-_INF)
    low = wp.vec3d(_INF)
    high = wp.vec3d(-_INF)
    for corner in range(8):
        x = wp.where((corner & 1) != 0, b[0], a[0])
        y = wp.where((corner & 2) != 0, b[1], a[1])
        z = wp.where((corner & 4) != 0, b[2], a[2])
        point = wp.vec4d(x, y, z, wp.float64(1.0))
        clip = lens.matrix * point
        signed = lens.planes * point
        # Quotients of affine functions are extreme at corners where w > 0; else `whole` passes over them.
        ratio = wp.vec3d(clip[0], clip[1], clip[2]) / clip[3]
        least_w = wp.min(least_w, clip[3])
        least_near = wp.min(least_near, signed[0])
        most = wp.max(most, signed)
        low = wp.min(low, ratio)
        high = wp.max(high, ratio)
    # Negated as a whole, so that NaN is `whole`.
    whole = not (least_near > wp.float64(0.0) and least_w > rounding[3])
    if whole or _is_beyond(most, tolerance, False):
        _set(lens, k, not _is_beyond(most, tolerance, whole), rects, depth)
        return
    _write(lens, k, low, high, least_w, rounding, rects, depth)


@wp.func
def _root(value: wp.float64, w: wp.float64, square: wp.float64, own: wp.float64, mixed: wp.float64, last: wp.float64):
    """Extremes of value / w over a sphere: roots s of ``(value - s w)**2 = square * |row - s last row|**2``."""
    # Positive where least_w > 0: the roots come in order. See `numba_projection._tangents`.
    a = w * w - square * last
    b = value * w - square * mixed
    c = value * value - square * own
    root = wp.sqrt(wp.max(b * b - a * c, wp.float64(0.0)))
    return wp.vec2d((b - root) / a, (b + root) / a)


@compiled_for(wp.float32, wp.float64)
@wp.kernel
def sphere_rectangles(
    spheres: wp.array2d(dtype=Any), lens: Lens, rects: wp.array2d(dtype=wp.int32), depth: wp.array(dtype=wp.float32)
):
    """Rectangle and nearest depth of spheres [K, 4]."""
    k = wp.tid()
    center = wp.vec3d(wp.float64(spheres[k, 0]), wp.float64(spheres[k, 1]), wp.float64(spheres[k, 2]))
    radius = wp.float64(spheres[k, 3])
    if not (_is_finite(center[0] + center[1] + center[2] + radius) and radius >= wp.float64(0.0)):
        _set(lens, k, True, rects, depth)
        return
    rounding = _rounding(lens, _homogeneous(wp.abs(center) + wp.vec3d(radius)))
    tolerance = wp.max(wp.max(rounding[0], rounding[1]), rounding[2]) + rounding[3]
    point = _homogeneous(center)
    signed = lens.planes * point
    clip = lens.matrix * point
    own = lens.products
    least_w = clip[3] - radius * wp.sqrt(own[3, 3])
    most = signed + radius * lens.lengths
    whole = not (signed[0] - radius * lens.lengths[0] > wp.float64(0.0) and least_w > rounding[3])
    if whole or _is_beyond(most, tolerance, False):
        _set(lens, k, not _is_beyond(most, tolerance, whole), rects, depth)
        return
    square = radius * radius
    x = _root(clip[0], clip[3], square, own[0, 0], own[0, 3], own[3, 3])
    y = _root(clip[1], clip[3], square, own[1, 1], own[1, 3], own[3, 3])
    z = _root(clip[2], clip[3], square, own[2, 2], own[2, 3], own[3, 3])
    _write(lens, k, wp.vec3d(x[0], y[0], z[0]), wp.vec3d(x[1], y[1], z[1]), least_w, rounding, rects, depth)


@wp.kernel
def in_front(
    depth: wp.array(dtype=wp.float32),
    farthest: wp.array(dtype=wp.float32),
    reversed_depth: bool,
    result: wp.array(dtype=wp.bool),
):
    """Whether depth is not behind the farthest one; NaN is in front."""
    k = wp.tid()
    behind = wp.where(reversed_depth, depth[k] < farthest[k], depth[k] > farthest[k])
    result[k] = not behind


def project_boxes(boxes: Any, view: DepthView) -> tuple[Any, Any]:
    """See :func:`hra.kernels.culling.projection.project_boxes`; returns rectangles [K, 4] and depths [K]."""
    return _project(box_rectangles, boxes, view)


def project_spheres(spheres: Any, view: DepthView) -> tuple[Any, Any]:
    """See :func:`hra.kernels.culling.projection.project_spheres`; returns rectangles [K, 4] and depths [K]."""
    return _project(sphere_rectangles, spheres, view)


def visible(project: Project, bounds: Any, view: DepthView, data: Any, layout: Layout) -> Any:
    """See :func:`hra.kernels.culling.hiz.visible_boxes`; ``project`` is a function of this module."""
    rects, depth = project(bounds, view)
    farthest = rect_reduce(data, layout, rects, None, "min" if view.reversed_depth else "max", depth)
    result = _empty_like(depth, depth.shape, np.bool_)
    inputs = [view_of(depth), view_of(farthest), view.reversed_depth, view_of(result)]
    wp.launch(in_front, depth.shape[0], inputs, device=_device(depth))
    return result


def _project(kernel: Any, bounds: Any, view: DepthView) -> tuple[Any, Any]:
    count = bounds.shape[0]
    rects, depth = _empty_like(bounds, (count, 4), np.int32), _empty_like(bounds, (count,), np.float32)
    inputs = [view_of(bounds), _lens(view), view_of(rects), view_of(depth)]
    wp.launch(kernel, count, inputs, device=_device(bounds))
    return rects, depth


def _lens(view: DepthView) -> Any:
    lens: Any = Lens()
    normals = view.oriented[:, :3]
    matrix: Any = wp.mat44d
    lens.matrix = matrix(view.oriented)
    lens.planes = Planes(view.planes)
    lens.products = matrix(normals @ normals.T)
    lens.lengths = Lengths(np.linalg.norm(view.planes[:, :3], axis=1))
    lens.width, lens.height, lens.sign, lens.slack = view.width, view.height, view.sign, view.slack
    return lens


def _device(array: Any) -> Any:
    return "cpu" if on_host(array) else array.device


def _empty_like(array: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """A new array beside ``array``: NumPy on the host, else Warp."""
    if on_host(array):
        return np.empty(shape, dtype)
    return new(shape, wp.dtype_from_numpy(dtype), array.device)
