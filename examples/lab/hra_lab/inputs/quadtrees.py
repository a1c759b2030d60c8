"""Complete quadtrees in level order: levels, places and refinements of their first nodes."""

from __future__ import annotations

import numpy as np

from hra.model.hierarchy import Hierarchy


def nodes_above(side: int) -> int:
    """Inner nodes of the quadtree over a square of ``side`` (a power of two) leaves a side."""
    return (side * side - 1) // 3


def side_of(size: int) -> int:
    """The smallest side, a power of two, whose quadtree has at least ``size`` inner nodes."""
    side = 2
    while nodes_above(side) < size:
        side *= 2
    return side


def levels(size: int) -> np.ndarray:
    """Level of each of the first ``size`` nodes, 0 for the root."""
    depth = side_of(size).bit_length() - 1
    return np.repeat(np.arange(depth), 4 ** np.arange(depth))[:size]


def cell_centers(size: int) -> np.ndarray:
    """Centres (x, y) of the first ``size`` nodes' cells in the unit square, [size, 2].

    Nodes of a level are in Morton order: the bits of their numbers alternate between y and x.
    """
    level = levels(size)
    number = np.arange(size) - (4**level - 1) // 3
    corner = np.zeros((size, 2))
    for bit in range(int(level[-1])):
        corner[:, 0] += (number >> (2 * bit) & 1) << bit
        corner[:, 1] += (number >> (2 * bit + 1) & 1) << bit
    return (corner + 0.5) / 2.0 ** level[:, None]


def parents(size: int) -> np.ndarray:
    """Parent of each of the first ``size`` nodes, -1 for the root."""
    return (np.arange(size) - 1) // 4


def refinement_tree(cost: np.ndarray) -> Hierarchy:
    """One refinement per node, of these costs [R], over a free base."""
    # The hierarchy's own root is the base; the quadtree's root is its only child.
    return Hierarchy.tree(np.r_[-1, 1 + parents(cost.size)], np.r_[0.0, cost], mode="add")
