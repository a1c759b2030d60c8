"""Projection of bounds and occlusion culling by Numba; many bounds take a thread per core.

Bounds are projected in float64, in blocks whose coordinates lie side by side, without branches, so that the compiler
takes eight at once: what a bound turns out not to need is computed all the same. Rows of the matrix are tuples, which
stay in registers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hra.compiling import njit
from hra.kernels.culling.depth_view import ROUNDING, DepthView, Project
from hra.kernels.pyramids.levels.numba_backend import rect_reduce
from hra.kernels.pyramids.levels.pyramid import Layout
from hra.kernels.row_blocks import for_each, ranges

# Six rows of 256 float64 are 12 KiB, which stay in the first cache.
_BLOCK = 256


@njit(inline="always")
def _dot(row, x, y, z):
    return row[0] * x + row[1] * y + row[2] * z + row[3]


@njit(inline="always")
def _magnitude(row, x, y, z):
    return ROUNDING * (abs(row[0]) * x + abs(row[1]) * y + abs(row[2]) * z + abs(row[3]))


@njit(inline="always")
def _rounding(rows, x, y, z):
    """Allowance for rounding of x, y, z and w where coordinates are at most these, and for the planes."""
    of_x, of_y = _magnitude(rows[0], x, y, z), _magnitude(rows[1], x, y, z)
    of_z, of_w = _magnitude(rows[2], x, y, z), _magnitude(rows[3], x, y, z)
    return (of_x, of_y, of_z, of_w), max(max(of_x, of_y), of_z) + of_w


@njit(inline="always")
def _least(row, x0, y0, z0, x1, y1, z1):
    # An affine function is least over a box where each of its terms is least by itself: no corner has to be visited.
    a, b, c = row[0], row[1], row[2]
    return min(a * x0, a * x1) + min(b * y0, b * y1) + min(c * z0, c * z1) + row[3]


@njit(inline="always")
def _most(row, x0, y0, z0, x1, y1, z1):
    a, b, c = row[0], row[1], row[2]
    return max(a * x0, a * x1) + max(b * y0, b * y1) + max(c * z0, c * z1) + row[3]


@njit(inline="always")
def _terms(row, x0, y0, z0, x1, y1, z1):
    return row[0] * x0, row[0] * x1, row[1] * y0, row[1] * y1, row[2] * z0, row[2] * z1


@njit(inline="always")
def _at_corner(terms, corner, last):
    return terms[corner & 1] + terms[2 + (corner >> 1 & 1)] + terms[4 + (corner >> 2)] + last


@njit(inline="always")
def _corner_extremes(rows, x0, y0, z0, x1, y1, z1):
    """Least x, y, z and largest x, y over w of the corners of a box."""
    # A quotient of affine functions is quasilinear where w > 0: its level sets are planes, so that its extremes over a
    # box are at corners. Where w may be 0 or less, the caller takes the bounds as `whole` and drops these numbers.
    in_x, in_y = _terms(rows[0], x0, y0, z0, x1, y1, z1), _terms(rows[1], x0, y0, z0, x1, y1, z1)
    in_z, in_w = _terms(rows[2], x0, y0, z0, x1, y1, z1), _terms(rows[3], x0, y0, z0, x1, y1, z1)
    low_x, low_y, low_z, high_x, high_y = np.inf, np.inf, np.inf, -np.inf, -np.inf
    for corner in range(8):
        scale = 1.0 / _at_corner(in_w, corner, rows[3][3])
        x, y = _at_corner(in_x, corner, rows[0][3]) * scale, _at_corner(in_y, corner, rows[1][3]) * scale
        low_x, high_x, low_y, high_y = min(low_x, x), max(high_x, x), min(low_y, y), max(high_y, y)
        low_z = min(low_z, _at_corner(in_z, corner, rows[2][3]) * scale)
    return (low_x, low_y, low_z), (high_x, high_y)


@njit(inline="always")
def _tangents(value, w, square, own, mixed, last):
    """Extremes of value / w over a sphere: roots s of ``(value - s w)**2 = square * |row - s last row|**2``."""
    # The planes value = s w through the sphere's rim touch it where the centre is a radius away from them, in units of
    # the normal row - s last: a s**2 - 2 b s + c = 0. Where least_w = w - radius * |last| > 0, a is positive, so that
    # the roots come in order, and b**2 - a c = square * (|w row - value last|**2 - square * (|row|**2 |last|**2 - (row
    # . last)**2)) is at least 0, since the first term is at least (w / |last|)**2 times the bracket: what is below 0 is
    # rounding.
    a = w * w - square * last
    b = value * w - square * mixed
    c = value * value - square * own
    root = np.sqrt(max(b * b - a * c, 0.0))
    return (b - root) / a, (b + root) / a


@njit(inline="always")
def _bounds(finite, outside, whole, low, high, least_w, rounding, target):
    """Rectangle x0, y0, x1, y1 and depth from the extremes of x, y, z over w."""
    width, height, sign, slack = target
    # x / w moves by at most (dx + |x / w| dw) / w, and |x / w| <= 1 wherever a pixel is drawn; half the width makes
    # pixels of it. least_w is the least w in the bounds, so the margin holds for all of their points.
    scale = 1.0 / least_w
    margin_x = 0.5 * width * ((rounding[0] + rounding[3]) * scale)
    margin_y = 0.5 * height * ((rounding[1] + rounding[3]) * scale)
    # Floats are cut to the image before they become integers, which they might not fit.
    x0 = np.floor(max((1 + low[0]) * 0.5 * width - margin_x, 0.0))
    x1 = np.floor(min((1 + high[0]) * 0.5 * width + margin_x, width - 1.0))
    y0 = np.floor(max((1 - high[1]) * 0.5 * height - margin_y, 0.0))
    y1 = np.floor(min((1 - low[1]) * 0.5 * height + margin_y, height - 1.0))
    # The same for z / w, which is at most 1; reversed depth shrinks with the distance, and low[2] is then the nearest
    # point's -z / w, so that its own size is taken.
    share = 1.0 if sign > 0 else -low[2]
    nearest = sign * (low[2] - slack - (rounding[2] + share * rounding[3]) * scale)
    # Combined by & and |, not by "and" and "or", which would be branches.
    nowhere = finite & (outside | ((not whole) & ((x0 > x1) | (y0 > y1))))
    usual = finite & (not whole) & (not nowhere)
    first_x, first_y = x0 if usual else 0.0, y0 if usual else 0.0
    last_x = x1 if usual else (-1.0 if nowhere else width - 1.0)
    last_y = y1 if usual else (-1.0 if nowhere else height - 1.0)
    return first_x, first_y, last_x, last_y, nearest if usual else sign * (np.inf if nowhere else -np.inf)


@njit(inline="always")
def _box(corners, rows, planes, target):
    x0, y0, z0, x1, y1, z1 = corners
    # A sum that overflows counts as not finite, too: the bounds are then taken as anywhere, never as nowhere.
    finite = abs(x0 + y0 + z0 + x1 + y1 + z1) < np.inf
    rounding, tolerance = _rounding(rows, max(abs(x0), abs(x1)), max(abs(y0), abs(y1)), max(abs(z0), abs(z1)))
    least_w = _least(rows[3], x0, y0, z0, x1, y1, z1)
    # Asked for what holds and negated: comparisons with NaN are false, so that NaN ends up as `whole`.
    whole = not ((_least(planes[0], x0, y0, z0, x1, y1, z1) > 0) & (least_w > rounding[3]))
    outside = False
    for p in range(6):  # beside the frustum is what no rectangle will tell
        outside |= (_most(planes[p], x0, y0, z0, x1, y1, z1) < -tolerance) & (whole | (p < 2))
    low, high = _corner_extremes(rows, x0, y0, z0, x1, y1, z1)
    return _bounds(finite, outside, whole, low, high, least_w, rounding, target)


@njit(inline="always")
def _sphere(sphere, rows, planes, products, lengths, target):
    x, y, z, radius = sphere
    finite = (abs(x + y + z + radius) < np.inf) & (radius >= 0)
    rounding, tolerance = _rounding(rows, abs(x) + radius, abs(y) + radius, abs(z) + radius)
    w, square, last = _dot(rows[3], x, y, z), radius * radius, products[3][3]
    least_w = w - radius * np.sqrt(last)
    whole = not ((_dot(planes[0], x, y, z) - radius * lengths[0] > 0) & (least_w > rounding[3]))
    outside = False
    for p in range(6):
        outside |= (_dot(planes[p], x, y, z) + radius * lengths[p] < -tolerance) & (whole | (p < 2))
    low_x, high_x = _tangents(_dot(rows[0], x, y, z), w, square, products[0][0], products[0][3], last)
    low_y, high_y = _tangents(_dot(rows[1], x, y, z), w, square, products[1][1], products[1][3], last)
    low_z, _ = _tangents(_dot(rows[2], x, y, z), w, square, products[2][2], products[2][3], last)
    return _bounds(finite, outside, whole, (low_x, low_y, low_z), (high_x, high_y), least_w, rounding, target)


@njit(cache=True, nogil=True)
def _gather(bounds, begin, block):
    """Coordinates of the bounds from ``begin`` on as rows of ``block``; returns how many there are."""
    # Transposed, so that one coordinate of all bounds of the block is contiguous: that is what vectorises.
    count = min(block.shape[1], len(bounds) - begin)
    for i in range(count):
        for j in range(bounds.shape[1]):
            block[j, i] = bounds[begin + i, j]
    return count


@njit(cache=True, nogil=True)
def _scatter(block, begin, count, rects, depth):
    for i in range(count):
        for j in range(4):
            rects[begin + i, j] = np.int32(block[j, i])
        depth[begin + i] = block[4, i]


# Functions of their own, as they take seconds to compile: one serves bounds of every type. Divisions by 0 give
# infinities in them (error_model), which `whole` or `finite` keep out of the result.
@njit(cache=True, nogil=True, error_model="numpy")
def _project_boxes(block, count, rows, planes, target):
    """Rectangles and depths in place of the coordinates, which have all been read."""
    for i in range(count):
        corners = block[0, i], block[1, i], block[2, i], block[3, i], block[4, i], block[5, i]
        block[0, i], block[1, i], block[2, i], block[3, i], block[4, i] = _box(corners, rows, planes, target)


@njit(cache=True, nogil=True, error_model="numpy")
def _project_spheres(block, count, rows, planes, products, lengths, target):
    """The same of spheres."""
    for i in range(count):
        sphere = block[0, i], block[1, i], block[2, i], block[3, i]
        found = _sphere(sphere, rows, planes, products, lengths, target)
        block[0, i], block[1, i], block[2, i], block[3, i], block[4, i] = found


@njit(cache=True, nogil=True)
def _box_rectangles(boxes, rows, planes, target, rects, depth):
    """Rectangles and depths of boxes [K, 6]."""
    block = np.empty((6, _BLOCK))
    for begin in range(0, len(boxes), _BLOCK):
        count = _gather(boxes, begin, block)
        _project_boxes(block, count, rows, planes, target)
        _scatter(block, begin, count, rects, depth)


@njit(cache=True, nogil=True)
def _sphere_rectangles(spheres, rows, planes, products, lengths, target, rects, depth):
    """Rectangles and depths of spheres [K, 4]; ``products`` of the matrix's rows without their last entries."""
    block = np.empty((6, _BLOCK))
    for begin in range(0, len(spheres), _BLOCK):
        count = _gather(spheres, begin, block)
        _project_spheres(block, count, rows, planes, products, lengths, target)
        _scatter(block, begin, count, rects, depth)


def project_boxes(boxes: Any, view: DepthView) -> tuple[np.ndarray, np.ndarray]:
    """See :func:`hra.kernels.culling.projection.project_boxes`; returns rectangles [K, 4] and depths [K]."""
    return _project(_box_rectangles, boxes.reshape(len(boxes), 6), (*_rows(view), _target(view)))


def project_spheres(spheres: Any, view: DepthView) -> tuple[np.ndarray, np.ndarray]:
    """See :func:`hra.kernels.culling.projection.project_spheres`; returns rectangles [K, 4] and depths [K]."""
    # All that the tangents need of the matrix beside the centre's clip coordinates is products of its rows.
    normals = view.oriented[:, :3]
    lengths = tuple(np.linalg.norm(view.planes[:, :3], axis=1).tolist())
    camera = *_rows(view), _tuples(normals @ normals.T), lengths, _target(view)
    return _project(_sphere_rectangles, spheres, camera)


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
