"""Warp kernels of codes and trees over points: one thread per point or node."""

# Warp compiles this file itself, and its types are not Python types.
# pyright: reportInvalidTypeForm=false, reportOperatorIssue=false, reportAssignmentType=false
# pyright: reportGeneralTypeIssues=false, reportArgumentType=false, reportCallIssue=false, reportReturnType=false
# pyright: reportIndexIssue=false

from __future__ import annotations

from typing import Any

import warp as wp

wp.set_module_options({"fuse_fp": False, "enable_backward": False})


@wp.kernel
def group_extent(
    low: wp.array2d(dtype=Any),
    high: wp.array2d(dtype=Any),
    group: int,
    least: wp.array2d(dtype=wp.float64),
    most: wp.array2d(dtype=wp.float64),
):
    """Least low and largest high coordinates of each ``group`` of rows; NaN if one is not a finite number."""
    i, axis = wp.tid()
    begin = i * group
    small, large = wp.float64(low[begin, axis]), wp.float64(high[begin, axis])
    spoilt = wp.float64(0.0)
    for k in range(begin, wp.min(low.shape[0], begin + group)):
        a, b = wp.float64(low[k, axis]), wp.float64(high[k, axis])
        small, large = wp.min(small, a), wp.max(large, b)
        # 0 for finite values, else NaN, which minima and maxima pass over.
        spoilt += (a - a) + (b - b)
    least[i, axis] = small + spoilt
    most[i, axis] = large + spoilt


@wp.func
def _spread_2(cell: wp.uint64) -> wp.uint64:
    x = cell
    # See `numba_backend`: parts move apart, and each step halves them.
    x = (x | (x << wp.uint64(16))) & wp.uint64(0x0000FFFF0000FFFF)
    x = (x | (x << wp.uint64(8))) & wp.uint64(0x00FF00FF00FF00FF)
    x = (x | (x << wp.uint64(4))) & wp.uint64(0x0F0F0F0F0F0F0F0F)
    x = (x | (x << wp.uint64(2))) & wp.uint64(0x3333333333333333)
    return (x | (x << wp.uint64(1))) & wp.uint64(0x5555555555555555)


@wp.func
def _spread_3(cell: wp.uint64) -> wp.uint64:
    x = cell
    x = (x | (x << wp.uint64(32))) & wp.uint64(0x001F00000000FFFF)
    x = (x | (x << wp.uint64(16))) & wp.uint64(0x001F0000FF0000FF)
    x = (x | (x << wp.uint64(8))) & wp.uint64(0x100F00F00F00F00F)
    x = (x | (x << wp.uint64(4))) & wp.uint64(0x10C30C30C30C30C3)
    return (x | (x << wp.uint64(2))) & wp.uint64(0x1249249249249249)


@wp.func
def _cell(value: wp.float64, low: wp.float64, side: wp.float64, cells: wp.float64) -> wp.uint64:
    place = (value - low) / side * cells
    return wp.uint64(wp.min(wp.max(place, wp.float64(0.0)), cells - wp.float64(1.0)))


@wp.kernel
def morton_codes(
    points: wp.array2d(dtype=Any),
    low: wp.vec3d,
    side: wp.float64,
    cells: wp.float64,
    codes: wp.array(dtype=Any),
):
    """The number of each point's cell along the Z-order curve."""
    i = wp.tid()
    x = _cell(wp.float64(points[i, 0]), low[0], side, cells)
    y = _cell(wp.float64(points[i, 1]), low[1], side, cells)
    if points.shape[1] == 2:
        codes[i] = codes.dtype(_spread_2(x) | (_spread_2(y) << wp.uint64(1)))
    else:
        z = _cell(wp.float64(points[i, 2]), low[2], side, cells)
        code = _spread_3(x) | (_spread_3(y) << wp.uint64(1)) | (_spread_3(z) << wp.uint64(2))
        codes[i] = codes.dtype(code)


@wp.kernel
def count_up(order: wp.array(dtype=wp.int32)):
    """Every entry its own index."""
    i = wp.tid()
    order[i] = i


@wp.func
def _digit_shift(differing: wp.uint64, axes: int) -> int:
    shift = wp.int32(0)
    while shift + axes < 64 and (differing >> wp.uint64(shift + axes)) != wp.uint64(0):
        shift += axes
    return shift


@wp.func
def _is_cell(codes: wp.array(dtype=Any), start: int, stop: int, leaf_size: int) -> bool:
    return stop - start > leaf_size and codes[start] != codes[stop - 1]


@wp.func
def _run_end(codes: wp.array(dtype=Any), start: int, stop: int, shift: wp.uint64) -> int:
    prefix = wp.uint64(codes[start]) >> shift
    low = start + 1
    high = int(stop)
    while low < high:
        middle = (low + high) // 2
        if (wp.uint64(codes[middle]) >> shift) == prefix:
            low = middle + 1
        else:
            high = middle
    return low


@wp.kernel
def count_children(
    codes: wp.array(dtype=Any),
    axes: int,
    leaf_size: int,
    first: int,
    begin: wp.array(dtype=wp.int32),
    end: wp.array(dtype=wp.int32),
    counts: wp.array(dtype=wp.int32),
):
    """How many children each node of a level has."""
    i = wp.tid()
    # Counted first and written by the next kernel: only then is it known where each node's children begin.
    start, stop = int(begin[first + i]), int(end[first + i])
    count = wp.int32(0)
    if stop - start > 1:
        count = stop - start
        if _is_cell(codes, start, stop, leaf_size):
            count = wp.int32(0)
            shift = wp.uint64(_digit_shift(wp.uint64(codes[start] ^ codes[stop - 1]), axes))
            while start < stop:
                start = _run_end(codes, start, stop, shift)
                count += 1
    counts[i] = count


@wp.kernel
def write_children(
    codes: wp.array(dtype=Any),
    axes: int,
    leaf_size: int,
    first: int,
    next_level: int,
    ends: wp.array(dtype=wp.int32),
    parent: wp.array(dtype=wp.int32),
    begin: wp.array(dtype=wp.int32),
    end: wp.array(dtype=wp.int32),
):
    """Append the children of a level; those of its node i end at ``next_level + ends[i]``."""
    i = wp.tid()
    start, stop = int(begin[first + i]), int(end[first + i])
    if stop - start == 1:
        return
    # The running sum of the counts says where to write: no atomics, and the order of the serial loops.
    child = int(next_level)
    if i > 0:
        child = next_level + ends[i - 1]
    is_cell = _is_cell(codes, start, stop, leaf_size)
    shift = wp.uint64(_digit_shift(wp.uint64(codes[start] ^ codes[stop - 1]), axes))
    while start < stop:
        run = start + 1
        if is_cell:
            run = _run_end(codes, start, stop, shift)
        parent[child] = first + i
        begin[child] = start
        end[child] = run
        start = run
        child += 1


@wp.func
def _first_from(rising: wp.array(dtype=wp.int32), value: int) -> int:
    """Index of the first entry >= ``value``; `warp.lower_bound` never returns the length."""
    low = wp.int32(0)
    high = int(rising.shape[0])
    while low < high:
        middle = (low + high) // 2
        if rising[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@wp.kernel
def link(
    parent: wp.array(dtype=wp.int32),
    begin: wp.array(dtype=wp.int32),
    order: wp.array(dtype=wp.int32),
    leaf: wp.array(dtype=wp.int32),
    first_child: wp.array(dtype=wp.int32),
):
    """First children by search in the rising parents; nodes without one are the leaves."""
    v = wp.tid()
    count = parent.shape[0]
    low = _first_from(parent, v)
    first_child[v] = low
    # Both sides of a condition may be evaluated, so that the look-up must stay in range.
    has_child = low < count and parent[wp.min(low, count - 1)] == v
    if v < count and not has_child:
        leaf[order[begin[v]]] = v
