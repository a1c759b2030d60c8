"""The bottom-up reductions as serial loops over nodes, the fastest on a CPU."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.kernels.trees.tree import Tree
from hra.kernels.trees.upward.numba_spheres import enclose_nodes


def sum_up(tree: Tree, leaves: np.ndarray) -> np.ndarray:
    """See :func:`hra.kernels.trees.upward.reductions.reduce_up`; ``leaves`` [B, L, C]."""
    nodes = _place_values(tree, leaves)
    _sum_up(tree.node, tree.first_child, nodes)
    return nodes


def max_up(tree: Tree, leaves: np.ndarray) -> np.ndarray:
    """See :func:`hra.kernels.trees.upward.reductions.reduce_up`; ``leaves`` [B, L, C]."""
    return _extremum_up(tree, leaves, smallest=False)


def min_up(tree: Tree, leaves: np.ndarray) -> np.ndarray:
    """See :func:`hra.kernels.trees.upward.reductions.reduce_up`; ``leaves`` [B, L, C]."""
    return _extremum_up(tree, leaves, smallest=True)


def mean_up(tree: Tree, leaves: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """See :func:`hra.kernels.trees.upward.reductions.reduce_up`; ``weight`` [B, L, 1], [1, L, 1] or None."""
    weights = sum_up(tree, np.ones((1, leaves.shape[1], 1)) if weight is None else weight)
    nodes = _place_values(tree, leaves)
    _mean_up(tree.node, tree.first_child, weights, nodes)
    return nodes


def spheres_up(tree: Tree, center: np.ndarray, radius: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """See :func:`hra.kernels.trees.upward.spheres.spheres_up`; ``center`` [B, L, 3], ``radius`` [B, L, 1] or None."""
    centers = _place_values(tree, center)
    radii = np.zeros((*centers.shape[:2], 1), np.float32) if radius is None else _place_values(tree, radius)
    enclose_nodes(tree.node, tree.first_child, centers, radii)
    return centers, radii


def _place_values(tree: Tree, leaves: np.ndarray) -> np.ndarray:
    nodes = np.empty((len(leaves), len(tree), leaves.shape[2]), leaves.dtype)
    _place(tree.leaf, leaves, nodes)
    return nodes


def _extremum_up(tree: Tree, leaves: np.ndarray, smallest: bool) -> np.ndarray:
    nodes = _place_values(tree, leaves)
    _extremum(tree.node, tree.first_child, nodes, smallest)
    return nodes


@njit(cache=True, nogil=True)
def _place(leaf, leaves, nodes):
    for b in range(len(leaves)):
        for i in range(leaf.size):
            for c in range(leaves.shape[2]):
                nodes[b, leaf[i], c] = leaves[b, i, c]


@njit(cache=True, nogil=True)
def _sum_up(node, first_child, nodes):
    total = np.empty(nodes.shape[2])
    for b in range(len(nodes)):
        # Backwards through level order: children are complete before they are read.
        for p in range(node.size - 1, -1, -1):
            begin, end = first_child[p], first_child[p + 1]
            if begin == end:
                continue
            total[:] = 0.0
            for k in range(begin, end):
                for c in range(total.size):
                    total[c] += nodes[b, node[k], c]
            for c in range(total.size):
                # Summed in float64 in the order of the children and rounded once: what makes the backends agree to the
                # bit.
                nodes[b, node[p], c] = total[c]


@njit(cache=True, nogil=True)
def _mean_up(node, first_child, weights, nodes):
    total = np.empty(nodes.shape[2])
    for b in range(len(nodes)):
        # One row of weights serves all members, or each has its own.
        weight = weights[min(b, len(weights) - 1), :, 0]
        for p in range(node.size - 1, -1, -1):
            begin, end = first_child[p], first_child[p + 1]
            if begin == end:
                continue
            total[:] = 0.0
            for k in range(begin, end):
                # A mean of means is the mean of the leaves if each counts with the weight of all that is beneath it.
                share = weight[node[k]]
                for c in range(total.size):
                    total[c] += share * nodes[b, node[k], c]
            heavy = weight[node[p]]
            for c in range(total.size):
                nodes[b, node[p], c] = total[c] / heavy if heavy > 0.0 else 0.0


@njit(cache=True, nogil=True)
def _extremum(node, first_child, nodes, smallest):
    for b in range(len(nodes)):
        for p in range(node.size - 1, -1, -1):
            begin, end = first_child[p], first_child[p + 1]
            if begin == end:
                continue
            for c in range(nodes.shape[2]):
                best = nodes[b, node[begin], c]
                for k in range(begin + 1, end):
                    value = nodes[b, node[k], c]
                    wins = value < best if smallest else value > best
                    best = value if wins or value != value else best  # NaN wins on either side
                nodes[b, node[p], c] = best
