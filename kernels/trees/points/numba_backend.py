"""Codes, sorting and trees over points as serial loops, the fastest on a CPU."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit


def extent(points: np.ndarray) -> np.ndarray:
    """Least and largest coordinates [2, D], float64; NaN wins."""
    found = np.empty((2, points.shape[1]))
    _extent(points, found)
    return found


def morton_codes(points: np.ndarray, low: np.ndarray, side: float, bits: int, dtype: np.dtype) -> np.ndarray:
    """See :func:`hra.kernels.trees.points.building.morton_codes`; ``bits`` per axis."""
    codes = np.zeros(len(points), dtype)
    if side > 0:
        _morton_codes(points, low, side, 2.0**bits, codes)
    return codes


def sort_keys(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """See :func:`hra.kernels.trees.points.building.sort_keys`."""
    return _radix_sort(np.array(keys), np.arange(keys.size, dtype=np.int32))


def grow(codes: np.ndarray, axes: int, leaf_size: int) -> tuple[list[int], np.ndarray, np.ndarray, np.ndarray]:
    """See :func:`hra.kernels.trees.points.building.build_tree`: level offsets, parent, begin and end of every node."""
    # Every inner node has at least two children, so that there are fewer of them than points.
    room = max(2 * codes.size - 1, 0)
    parent, begin, end = (np.empty(room, np.int32) for _ in range(3))
    # Each level of cells fixes at least one digit more than the one above; a level of single points may follow.
    offsets = np.zeros(codes.itemsize * 8 + 2, np.int64)
    levels = _grow(np.ascontiguousarray(codes), axes, leaf_size, parent, begin, end, offsets)
    count = int(offsets[levels])
    return offsets[: levels + 1].tolist(), parent[:count], begin[:count], end[:count]


def link(parent: np.ndarray, begin: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Leaf, node and first child of the :class:`hra.kernels.trees.tree.Tree` that `grow` found."""
    leaf, first_child = np.empty(order.size, np.int32), np.empty(parent.size + 1, np.int32)
    _link(parent, begin, order, leaf, first_child)
    return leaf, np.arange(parent.size, dtype=np.int32), first_child


@njit(cache=True, nogil=True)
def _extent(points, found):
    for axis in range(points.shape[1]):
        least, most = np.inf, -np.inf
        total = 0.0
        for i in range(len(points)):
            value = np.float64(points[i, axis])
            least, most = min(least, value), max(most, value)
            total += value - value  # NaN for infinite values and NaN, which comparisons pass over
        found[0, axis], found[1, axis] = least + total, most + total


@njit(cache=True)
def _spread_2(x):
    """Bits 0, 1, 2 ... of 32 to bits 0, 2, 4 ... of 64."""
    # Halves move apart, then bytes, nibbles, pairs and single bits: each step doubles the gaps and halves the parts.
    x = (x | x << np.uint64(16)) & np.uint64(0x0000FFFF0000FFFF)
    x = (x | x << np.uint64(8)) & np.uint64(0x00FF00FF00FF00FF)
    x = (x | x << np.uint64(4)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    x = (x | x << np.uint64(2)) & np.uint64(0x3333333333333333)
    return (x | x << np.uint64(1)) & np.uint64(0x5555555555555555)


@njit(cache=True)
def _spread_3(x):
    """Bits 0, 1, 2 ... of 21 to bits 0, 3, 6 ... of 63."""
    # The same with two gaps behind every bit.
    x = (x | x << np.uint64(32)) & np.uint64(0x001F00000000FFFF)
    x = (x | x << np.uint64(16)) & np.uint64(0x001F0000FF0000FF)
    x = (x | x << np.uint64(8)) & np.uint64(0x100F00F00F00F00F)
    x = (x | x << np.uint64(4)) & np.uint64(0x10C30C30C30C30C3)
    return (x | x << np.uint64(2)) & np.uint64(0x1249249249249249)


@njit(cache=True)
def _cell(value, low, side, cells):
    # The upper border would be a cell of its own, and rounding or given bounds may lead beyond: both are cut off.
    place = (np.float64(value) - low) / side * cells
    return np.uint64(np.int64(min(max(place, 0.0), cells - 1.0)))


@njit(cache=True, nogil=True)
def _morton_codes(points, low, side, cells, codes):
    for i in range(len(points)):
        x = _cell(points[i, 0], low[0], side, cells)
        y = _cell(points[i, 1], low[1], side, cells)
        if points.shape[1] == 2:
            codes[i] = _spread_2(x) | _spread_2(y) << np.uint64(1)
        else:
            z = _cell(points[i, 2], low[2], side, cells)
            codes[i] = _spread_3(x) | _spread_3(y) << np.uint64(1) | _spread_3(z) << np.uint64(2)


@njit(cache=True)
def _byte(key, shift):
    return np.int64((np.uint64(key) >> np.uint64(shift)) & np.uint64(255))


@njit(cache=True, nogil=True)
def _radix_sort(keys, order):
    """Least significant byte first; bytes that are equal everywhere are passed over."""
    size, passes = keys.size, keys.itemsize
    # The counts of all passes at once: they do not depend on the order.
    starts = np.zeros((passes, 256), np.int64)
    for i in range(size):
        for p in range(passes):
            starts[p, _byte(keys[i], 8 * p)] += 1
    # Two buffers take turns; which one holds the result depends on how many passes there were.
    other_keys, other_order = np.empty_like(keys), np.empty_like(order)
    for p in range(passes):
        if size == 0 or starts[p, _byte(keys[0], 8 * p)] == size:
            continue
        total = 0
        for digit in range(256):
            count = starts[p, digit]
            starts[p, digit] = total
            total += count
        for i in range(size):
            # Stable, so that among equal bytes the order by the lower ones survives.
            digit = _byte(keys[i], 8 * p)
            place = starts[p, digit]
            starts[p, digit] = place + 1
            other_keys[place], other_order[place] = keys[i], order[i]
        keys, other_keys = other_keys, keys
        order, other_order = other_order, order
    return keys, order


@njit(cache=True)
def _digit_shift(low, high, axes):
    """Where the highest digit begins in which two different codes differ."""
    # The highest bit of the exclusive or is where the two part (Karras 2012).
    differing, shift = np.uint64(low ^ high), 0
    # A shift by 64 or more would have no defined value.
    while differing >> np.uint64(shift + axes) != 0 and shift + axes < 64:
        shift += axes
    return np.uint64(shift)


@njit(cache=True)
def _run_end(codes, begin, end, shift):
    """End of the run of codes that share the digits of the first one down to ``shift``."""
    prefix = np.uint64(codes[begin]) >> shift
    # Codes are sorted, so that those with one prefix follow each other.
    low, high = begin + 1, end
    # Everything before ``low`` has the prefix, nothing from ``high`` on: the two meet where the run ends.
    while low < high:
        middle = (low + high) // 2
        if np.uint64(codes[middle]) >> shift == prefix:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def _grow(codes, axes, leaf_size, parent, begin, end, offsets):
    """Breadth first; the nodes that exist are the queue. Returns the number of levels."""
    if codes.size == 0:
        return 0
    parent[0], begin[0], end[0] = -1, 0, codes.size
    count, levels, node = 1, 0, 0
    while node < count:
        levels += 1
        offsets[levels] = count
        for v in range(node, offsets[levels]):
            start, stop = begin[v], end[v]
            if stop - start == 1:
                continue
            # Equal codes cannot be told apart by digits: each of their points becomes a node of its own.
            is_cell = stop - start > leaf_size and codes[start] != codes[stop - 1]
            shift = _digit_shift(codes[start], codes[stop - 1], axes) if is_cell else np.uint64(0)
            while start < stop:
                run = _run_end(codes, start, stop, shift) if is_cell else start + 1
                parent[count], begin[count], end[count] = v, start, run
                start = run
                count += 1
        node = offsets[levels]
    return levels


@njit(cache=True, nogil=True)
def _link(parent, begin, order, leaf, first_child):
    """Parents rise along the nodes, so that the first child of a node follows the last of the node before."""
    child = 1 if parent.size else 0
    for v in range(parent.size):
        first_child[v] = child
        while child < parent.size and parent[child] == v:
            child += 1
        # A node without children is a single point, the only one of its range.
        if first_child[v] == child:
            leaf[order[begin[v]]] = v
    first_child[parent.size] = parent.size
