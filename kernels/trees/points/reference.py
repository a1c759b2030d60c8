"""The plain reference of codes, sorting and trees over points."""

from __future__ import annotations

from itertools import groupby

import numpy as np


def extent(points: np.ndarray) -> np.ndarray:
    """Least and largest coordinates [2, D], float64; NaN wins."""
    return np.stack([points.min(axis=0), points.max(axis=0)]).astype(np.float64)


def morton_codes(points: np.ndarray, low: np.ndarray, side: float, bits: int, dtype: np.dtype) -> np.ndarray:
    """See :func:`hra.kernels.trees.points.building.morton_codes`; ``bits`` per axis."""
    cells = np.floor((points - low) / (side or 1.0) * 2.0**bits).clip(0, 2.0**bits - 1).astype(np.uint64)
    cells = cells if side else np.zeros_like(cells)
    codes, axes = np.zeros(len(points), np.uint64), points.shape[1]
    for bit in range(bits):
        for axis in range(axes):
            codes |= (cells[:, axis] >> np.uint64(bit) & np.uint64(1)) << np.uint64(bit * axes + axis)
    return codes.astype(dtype)


def sort_keys(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """See :func:`hra.kernels.trees.points.building.sort_keys`."""
    order = np.argsort(keys, kind="stable")
    return keys[order], order.astype(np.int32)


def grow(codes: np.ndarray, axes: int, leaf_size: int) -> tuple[list[int], np.ndarray, np.ndarray, np.ndarray]:
    """See :func:`hra.kernels.trees.points.building.build_tree`: level offsets, parent, begin and end of every node."""
    keys = codes.tolist()
    level = [(-1, 0, len(keys))] if keys else []
    nodes, offsets = [], [0]
    while level:
        first = offsets[-1]
        nodes += level
        offsets.append(len(nodes))
        level = [
            (first + i, *child)
            for i, (_, begin, end) in enumerate(level)
            for child in _children(keys, axes, leaf_size, begin, end)
        ]
    parent, begin, end = np.array(nodes, np.int32).reshape(-1, 3).T.copy()
    return offsets, parent, begin, end


def link(parent: np.ndarray, begin: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Leaf, node and first child of the :class:`hra.kernels.trees.tree.Tree` that `grow` found."""
    node = np.arange(parent.size, dtype=np.int32)
    first_child = np.searchsorted(parent, np.arange(parent.size + 1)).astype(np.int32)
    is_leaf = first_child[:-1] == first_child[1:]
    leaf = np.empty(order.size, np.int32)
    leaf[order[begin[is_leaf]]] = node[is_leaf]
    return leaf, node, first_child


def _children(keys: list[int], axes: int, leaf_size: int, begin: int, end: int) -> list[tuple[int, int]]:
    if end - begin == 1:
        return []
    if end - begin <= leaf_size or keys[begin] == keys[end - 1]:
        return [(k, k + 1) for k in range(begin, end)]
    shift = ((keys[begin] ^ keys[end - 1]).bit_length() - 1) // axes * axes
    runs = [list(run) for _, run in groupby(range(begin, end), key=lambda k: keys[k] >> shift)]
    return [(run[0], run[-1] + 1) for run in runs]
