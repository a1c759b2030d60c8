"""The bottom-up reductions in Warp: one launch per level, on the CPU (one thread) and on CUDA; no atomics."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.kernels.trees.tree import Tree
from hra.kernels.warp_arrays import like, new, view, wp  # there Warp is told to be silent

from hra.kernels.trees.upward import warp_kernels  # isort: skip (launches must find Warp silent)


def sum_up(tree: Tree, leaves: Any) -> Any:
    """See :func:`hra.kernels.trees.upward.reductions.reduce_up`; ``leaves`` [B, L, C]."""
    nodes = _place(tree, view(leaves))
    _sweep(warp_kernels.sum_level, tree, nodes.shape, [nodes])
    return like(nodes, leaves)


def max_up(tree: Tree, leaves: Any) -> Any:
    """See :func:`hra.kernels.trees.upward.reductions.reduce_up`; ``leaves`` [B, L, C]."""
    return _extremum_up(tree, leaves, False)


def min_up(tree: Tree, leaves: Any) -> Any:
    """See :func:`hra.kernels.trees.upward.reductions.reduce_up`; ``leaves`` [B, L, C]."""
    return _extremum_up(tree, leaves, True)


def mean_up(tree: Tree, leaves: Any, weight: Any) -> Any:
    """See :func:`hra.kernels.trees.upward.reductions.reduce_up`; ``weight`` [B, L, 1], [1, L, 1] or None."""
    nodes = _place(tree, view(leaves))
    weights = _place(tree, _weights(weight, nodes, leaves.shape[1]))
    _sweep(warp_kernels.sum_level, tree, weights.shape, [weights])
    _sweep(warp_kernels.mean_level, tree, nodes.shape, [weights, nodes])
    return like(nodes, leaves)


def spheres_up(tree: Tree, center: Any, radius: Any) -> tuple[Any, Any]:
    """See :func:`hra.kernels.trees.spheres_up`; ``center`` [B, L, 3], ``radius`` [B, L, 1] or None."""
    centers = _place(tree, view(center))
    shape = (*centers.shape[:2], 1)
    points = wp.zeros(shape, dtype=wp.float32, device=centers.device)
    radii = points if radius is None else _place(tree, view(radius))
    _sweep(warp_kernels.enclose_level, tree, shape[:2], [centers, radii])
    return like(centers, center), like(radii, center)


def _place(tree: Tree, leaves: Any) -> Any:
    nodes = new((leaves.shape[0], len(tree), leaves.shape[2]), leaves.dtype, leaves.device)
    wp.launch(warp_kernels.place, leaves.shape, [view(tree.leaf), leaves, nodes], device=leaves.device)
    return nodes


def _weights(weight: Any, nodes: Any, count: int) -> Any:
    """Weights [B, L, 1] or [1, L, 1] on the device of ``nodes``."""
    if weight is None:
        return wp.full((1, count, 1), 1.0, dtype=wp.float64, device=nodes.device)
    return wp.array(weight, dtype=wp.float64, device=nodes.device) if isinstance(weight, np.ndarray) else weight


def _extremum_up(tree: Tree, leaves: Any, smallest: bool) -> Any:
    nodes = _place(tree, view(leaves))
    _sweep(warp_kernels.extremum_level, tree, nodes.shape, [smallest, nodes])
    return like(nodes, leaves)


def _sweep(kernel: Any, tree: Tree, shape: tuple[int, ...], inputs: list[Any]) -> None:
    """Launch a kernel over every level but the finest, from fine to coarse; ``shape`` is [B, N, ...]."""
    node, first_child = view(tree.node), view(tree.first_child)
    for begin, end in reversed(tree.levels[:-1]):
        size = (shape[0], end - begin, *shape[2:])
        wp.launch(kernel, size, [begin, node, first_child, *inputs], device=inputs[-1].device)
