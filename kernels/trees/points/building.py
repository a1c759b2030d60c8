"""Trees over points: the compressed quadtree or octree of their Morton codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hra.errors import HraError
from hra.kernels.arrays import adopt
from hra.kernels.backends import implementation
from hra.kernels.trees.points.morton import PACKAGE, check_points, codes_of
from hra.kernels.trees.tree import Tree


@dataclass(frozen=True, eq=False)
class PointTree:
    """Points as the leaves of a tree of grid cells.

    Attributes
    ----------
    tree : the nodes in level order, coarse to fine; row i of leaf values is point i.
    order : int32 [P], the points along the Z-order curve; points of one cell of the grid in their given order.
    begin, end : int32 [N], below node v lie the points ``order[begin[v]:end[v]]``.
    """

    tree: Tree
    order: Any
    begin: Any
    end: Any


def build_tree(
    points: Any, *, leaf_size: int = 1, bounds: Any = None, bits: int = 64, backend: str = "auto"
) -> PointTree:
    """A quadtree (2-D) or octree (3-D) down to single points.

    An inner node is a grid cell, shrunk to the smallest that holds its points: none has a single child, so a tree over
    P points has at most 2 P - 1 nodes. Its children are its occupied quadrants or octants in Z-order; single points
    hang under their cell directly, and so do all points of a cell that cannot or need not be split.

    Parameters
    ----------
    points, bounds, bits, backend : as for `morton_codes`.
    leaf_size : cells of at most so many points are not split: their points become their children.

    Raises
    ------
    HraError : ``leaf_size`` below 1.
    ArrayError, BackendUnavailable : as for `morton_codes`.

    Notes
    -----
    Cells of one size lie side by side like pixels, so one tree serves bounds of meshes, merged tokens and regions; the
    binary tree of Karras (Maximizing Parallelism in the Construction of BVHs, Octrees, and k-d Trees, HPG 2012) has the
    same splits, one axis at a time, with twice as many nodes. Permuted points give the same tree, up to the order of
    points of one finest cell. On a CUDA device, one number per level is copied to the host.
    """
    adopted = adopt(points, "points")
    check_points(adopted)
    if isinstance(leaf_size, bool) or not isinstance(leaf_size, int) or leaf_size < 1:
        raise HraError(f"leaf_size is {leaf_size!r}", where="argument leaf_size", fix="a whole number >= 1")
    chosen = implementation(PACKAGE, backend, adopted)
    codes, order = chosen.sort_keys(codes_of(chosen, adopted, bounds, bits))
    offsets, parent, begin, end = chosen.grow(codes, adopted.shape[1], leaf_size)
    leaf, node, first_child = chosen.link(parent, begin, order)
    return PointTree(Tree(parent, leaf, node, first_child, tuple(offsets)), order, begin, end)
