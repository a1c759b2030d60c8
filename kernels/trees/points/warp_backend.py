"""Codes, sorting and trees over points in Warp, on the CPU (one thread) and on CUDA: one thread per point or node.

From a CUDA device only the extent of the points and the number of nodes of each level are copied to the host.
"""

# Warp compiles this file itself, and its types are not Python types.
# pyright: reportInvalidTypeForm=false, reportOperatorIssue=false, reportAssignmentType=false
# pyright: reportGeneralTypeIssues=false, reportArgumentType=false, reportCallIssue=false, reportReturnType=false
# pyright: reportIndexIssue=false

from __future__ import annotations

from typing import Any

import numpy as np

from hra.kernels.backends import fetch
from hra.kernels.warp_arrays import compiled_for, head, like, new, view, wp, zeros  # there Warp is told to be silent

wp.set_module_options({"fuse_fp": False, "enable_backward": False})


@compiled_for(wp.float32, wp.float64)
@wp.kernel
def _group_extent(
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


@compiled_for(
    *({"points": points, "codes": codes} for points in (wp.float32, wp.float64) for codes in (wp.uint32, wp.uint64))
)
@wp.kernel
def _morton_codes(
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
def _count_up(order: wp.array(dtype=wp.int32)):
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


@compiled_for(wp.uint32, wp.uint64)
@wp.kernel
def _count_children(
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


@compiled_for(wp.uint32, wp.uint64)
@wp.kernel
def _write_children(
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
def _link(
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


# Rows that one thread reduces.
_GROUP = 256


def extent(points: Any) -> np.ndarray:
    """Least and largest coordinates [2, D], float64; NaN if one is not finite."""
    low = high = view(points)
    while True:
        # Extrema of extrema: the first round reads the points twice, as low and as high.
        groups = -(-low.shape[0] // _GROUP)
        found = [new((groups, low.shape[1]), wp.float64, low.device) for _ in range(2)]
        wp.launch(_group_extent, found[0].shape, [low, high, _GROUP, *found], device=low.device)
        low, high = found
        if groups == 1:
            return np.concatenate([fetch(low), fetch(high)])


def morton_codes(points: Any, low: np.ndarray, side: float, bits: int, dtype: np.dtype) -> Any:
    """See :func:`hra.kernels.trees.points.building.morton_codes`; ``bits`` per axis."""
    rows = view(points)
    codes = zeros(rows.shape[0], wp.dtype_from_numpy(dtype), rows.device)
    if side > 0:
        corner = wp.vec3d(*low.tolist(), *[0.0] * (3 - low.size))
        inputs = [rows, corner, wp.float64(side), wp.float64(2.0**bits), codes]
        wp.launch(_morton_codes, codes.shape, inputs, device=rows.device)
    return like(codes, points)


def sort_keys(keys: Any) -> tuple[Any, Any]:
    """See :func:`hra.kernels.trees.points.building.sort_keys`."""
    source = view(keys)
    count, device = source.shape[0], source.device
    # The sort needs as much memory again behind both arrays.
    ordered, order = new(2 * count, source.dtype, device), new(2 * count, wp.int32, device)
    if count:
        wp.copy(ordered, source, count=count)
        wp.launch(_count_up, count, [order], device=device)
        wp.utils.radix_sort_pairs(ordered, order, count)
    return like(head(ordered, count), keys), like(head(order, count), keys)


def grow(codes: Any, axes: int, leaf_size: int) -> tuple[list[int], Any, Any, Any]:
    """See :func:`hra.kernels.trees.points.building.build_tree`: level offsets, parent, begin and end of every node."""
    keys = view(codes)
    points, device = keys.shape[0], keys.device
    parent, begin, end = (new(max(2 * points - 1, 0), wp.int32, device) for _ in range(3))
    counts, ends = new(points, wp.int32, device), new(points, wp.int32, device)
    offsets = [0]
    if points:
        for array, value in ((parent, -1), (begin, 0), (end, points)):
            array[:1].fill_(value)
        offsets.append(1)
    # Ends with the level that has no children: its two offsets are equal, and the last one is left out below.
    while offsets[-1] > (offsets[-2] if len(offsets) > 1 else 0):
        first, next_level = offsets[-2:]
        size = next_level - first
        shape = [keys, axes, leaf_size, first]
        wp.launch(_count_children, size, [*shape, begin, end, counts], device=device)
        wp.utils.array_scan(counts[:size], ends[:size])
        inputs = [*shape, next_level, ends, parent, begin, end]
        wp.launch(_write_children, size, inputs, device=device)
        offsets.append(next_level + int(fetch(ends[size - 1 : size])[0]))
    count = offsets[-1]
    nodes = (like(head(array, count), codes) for array in (parent, begin, end))
    return offsets[: max(len(offsets) - 1, 1)], *nodes


def link(parent: Any, begin: Any, order: Any) -> tuple[Any, Any, Any]:
    """Leaf, node and first child of the :class:`hra.kernels.trees.tree.Tree` that `grow` found."""
    above = view(parent)
    size, device = above.shape[0], above.device
    leaf, node = new(order.shape[0], wp.int32, device), new(size, wp.int32, device)
    first_child = zeros(size + 1, wp.int32, device)
    if size:
        wp.launch(_count_up, size, [node], device=device)
        inputs = [above, view(begin), view(order), leaf, first_child]
        wp.launch(_link, size + 1, inputs, device=device)
    return like(leaf, parent), like(node, parent), like(first_child, parent)
