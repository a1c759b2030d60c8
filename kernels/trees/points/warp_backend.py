"""Codes, sorting and trees over points in Warp, on the CPU (one thread) and on CUDA.

From a CUDA device only the extent of the points and the number of nodes of each level are copied to the host.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.kernels.backends import fetch
from hra.kernels.warp_arrays import head, like, new, view, wp, zeros  # there Warp is told to be silent

from hra.kernels.trees.points import warp_kernels  # isort: skip (launches must find Warp silent)

# Rows that one thread reduces.
_GROUP = 256


def extent(points: Any) -> np.ndarray:
    """Least and largest coordinates [2, D], float64; NaN if one is not finite."""
    low = high = view(points)
    while True:
        # Extrema of extrema: the first round reads the points twice, as low and as high.
        groups = -(-low.shape[0] // _GROUP)
        found = [new((groups, low.shape[1]), wp.float64, low.device) for _ in range(2)]
        wp.launch(warp_kernels.group_extent, found[0].shape, [low, high, _GROUP, *found], device=low.device)
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
        wp.launch(warp_kernels.morton_codes, codes.shape, inputs, device=rows.device)
    return like(codes, points)


def sort_keys(keys: Any) -> tuple[Any, Any]:
    """See :func:`hra.kernels.trees.points.building.sort_keys`."""
    source = view(keys)
    count, device = source.shape[0], source.device
    # The sort needs as much memory again behind both arrays.
    ordered, order = new(2 * count, source.dtype, device), new(2 * count, wp.int32, device)
    if count:
        wp.copy(ordered, source, count=count)
        wp.launch(warp_kernels.count_up, count, [order], device=device)
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
        wp.launch(warp_kernels.count_children, size, [*shape, begin, end, counts], device=device)
        wp.utils.array_scan(counts[:size], ends[:size])
        inputs = [*shape, next_level, ends, parent, begin, end]
        wp.launch(warp_kernels.write_children, size, inputs, device=device)
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
        wp.launch(warp_kernels.count_up, size, [node], device=device)
        inputs = [above, view(begin), view(order), leaf, first_child]
        wp.launch(warp_kernels.link, size + 1, inputs, device=device)
    return like(leaf, parent), like(node, parent), like(first_child, parent)
