"""Building hierarchies: Morton codes, sorting, trees over points and grids, and bottom-up reductions over any tree.

The tree itself is here, trees over points in ``points``, values of inner nodes in ``upward``.

>>> import numpy as np
>>> from hra.kernels.trees import build_tree, reduce_up
>>> points = np.array([[0, 0], [9, 9], [1, 0], [9, 8]], np.float32)
>>> built = build_tree(points)
>>> built.tree.parent.tolist()
[-1, 0, 0, 1, 1, 2, 2]
>>> reduce_up(built.tree, points, "mean")[:3].tolist()
[[4.75, 4.25], [0.5, 0.0], [9.0, 8.5]]
"""

from __future__ import annotations

from hra.kernels.trees.points.building import PointTree, build_tree, morton_codes, sort_keys
from hra.kernels.trees.tree import Tree, grid_tree
from hra.kernels.trees.upward.reductions import boxes_up, reduce_up, spheres_up

__all__ = [
    "PointTree",
    "Tree",
    "boxes_up",
    "build_tree",
    "grid_tree",
    "morton_codes",
    "reduce_up",
    "sort_keys",
    "spheres_up",
]
