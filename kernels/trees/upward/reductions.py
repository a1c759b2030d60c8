"""Values of all nodes of a tree from those of its leaves: sums, means, extrema and boxes, for whole batches.

Bounding spheres are nested from fine to coarse.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hra.errors import ArrayError, HraError, check_choice
from hra.kernels.backends import adopt, check_floats, dtype_of, give_back, implementation, on_host
from hra.kernels.trees.tree import Tree

PACKAGE = "hra.kernels.trees.upward"
_REDUCTIONS = ("sum", "mean", "max", "min")


def reduce_up(tree: Tree, leaves: Any, reduce: str, *, weight: Any = None, backend: str = "auto") -> Any:
    """Reduce the values of the leaves to values of all nodes, each from its children, from fine to coarse.

    The children of a node are taken in the order of the tree, summed in float64 and rounded once, so that every backend
    gives the same bits. NaN in a leaf makes all nodes above it NaN.

    Parameters
    ----------
    tree : with L leaves and N nodes, on the device of ``leaves`` (see `Tree.to`).
    leaves : [..., L, C] float32 or float64; NumPy, torch, Warp or any array with DLPack, on the host or a CUDA device.
    reduce : "sum", "mean", "max" or "min".
    weight : [L] or [..., L] float64 on the host or the same device, >= 0, only for "mean"; by default every leaf weighs
        1. A node whose leaves weigh nothing has the mean 0.
    backend : "auto", "reference", "numba" or "warp".

    Returns
    -------
    array : [..., N, C], by node; dtype, kind and device of ``leaves``.

    Raises
    ------
    HraError : unknown reduction, or a weight for another one than "mean".
    ArrayError : another shape, dtype or device; on the host, weights that are negative or not finite.
    BackendUnavailable : the backend is missing or cannot read the device.
    """
    check_choice("reduce", reduce, _REDUCTIONS)
    if weight is not None and reduce != "mean":
        raise HraError(f"{reduce!r} takes no weights", where="argument weight", fix="multiply the leaves by them")
    rows = adopt(leaves, "leaves")
    check_leaves(tree, rows, "leaves")
    chosen = implementation(PACKAGE, backend, rows)
    batch = flat_batch(rows, rows.shape)
    if reduce == "mean":
        found = chosen.mean_up(tree, batch, _weights(weight, rows))
    else:
        found = getattr(chosen, f"{reduce}_up")(tree, batch)
    return give_back(found.reshape((*rows.shape[:-2], len(tree), rows.shape[-1])), leaves)


def boxes_up(tree: Tree, low: Any, high: Any = None, *, backend: str = "auto") -> tuple[Any, Any]:
    """The bounding box of every node, exactly: the least low and the largest high corner of its leaves.

    Parameters
    ----------
    low, high : [..., L, D], the corners of the leaves' boxes; one array for points. Otherwise as for `reduce_up`.

    Returns
    -------
    low, high : [..., N, D], by node.
    """
    upper = low if high is None else high
    return reduce_up(tree, low, "min", backend=backend), reduce_up(tree, upper, "max", backend=backend)


def check_leaves(tree: Tree, rows: Any, name: str) -> None:
    """Raise :class:`ArrayError` unless the adopted array is float [..., L, C] and lies where the tree does."""
    count = tree.leaf.shape[0]
    if rows.ndim < 2 or rows.shape[-2] != count:
        fix = "one row per leaf, not per node"
        raise ArrayError(f"shape {tuple(rows.shape)} is not [..., {count}, C]", where=f"argument {name}", fix=fix)
    check_floats(rows, name)
    if getattr(tree.node, "device", "cpu") != getattr(rows, "device", "cpu"):
        where = "cpu" if on_host(rows) else str(rows.device)
        raise ArrayError(f"the tree is not on {where}", where="argument tree", fix=f"tree.to({where!r})")


def flat_batch(rows: Any, shape: tuple[int, ...]) -> Any:
    """An adopted array [..., L, C] as [B, L, C]; ``shape`` is its own, or with a last axis of length 1 added."""
    packed = rows if on_host(rows) else rows.contiguous()
    return packed.reshape((math.prod(shape[:-2]), *shape[-2:]))


def _weights(weight: Any, rows: Any) -> Any:
    """Weights [B, L, 1] or [1, L, 1], None for equal ones."""
    if weight is None:
        return None
    found = adopt(weight, "weight")
    if tuple(found.shape) not in (tuple(rows.shape[-2:-1]), tuple(rows.shape[:-1])) or dtype_of(found) != np.float64:
        what = f"{dtype_of(found)} of shape {tuple(found.shape)} is not float64 [L] or [..., L]"
        raise ArrayError(what, where="argument weight", fix="pass one float64 per leaf")
    if on_host(found) and not ((found >= 0) & (found < np.inf)).all():
        raise ArrayError("a weight is negative, infinite or not a number", where="argument weight")
    return flat_batch(found, (*found.shape, 1))


def spheres_up(tree: Tree, center: Any, radius: Any = None, *, backend: str = "auto") -> tuple[Any, Any]:
    """A small sphere around the spheres of each node's children, from fine to coarse.

    Each sphere contains those of all nodes below it, by exact arithmetic on the float32 results: the radius is taken
    from the rounded centre and rounded up. All backends give the same bits.

    Parameters
    ----------
    tree : with L leaves and N nodes, on the device of ``center`` (see `Tree.to`).
    center : float32 [..., L, 3], finite; NumPy, torch, Warp or any array with DLPack, on the host or a CUDA device.
    radius : float32 [..., L], >= 0, on the same device; by default the leaves are points.
    backend : "auto", "reference", "numba" or "warp".

    Returns
    -------
    center : float32 [..., N, 3], radius : float32 [..., N], by node; kind and device of ``center``.

    Raises
    ------
    ArrayError : another shape, dtype or device; on the host, values that are not finite or radii below 0.
    BackendUnavailable : the backend is missing or cannot read the device.

    References
    ----------
    Badoiu and Clarkson, Smaller Core-Sets for Balls, SODA 2003: steps to the farthest sphere, here 12 from the middle
    of the box, each 0.8 of the one before; the smallest sphere met is kept. Two spheres get the exact one.
    """
    centers = adopt(center, "center")
    check_leaves(tree, centers, "center")
    if centers.shape[-1] != 3 or dtype_of(centers) != np.float32:
        what = f"{dtype_of(centers)} of shape {tuple(centers.shape)} is not float32 [..., L, 3]"
        raise ArrayError(what, where="argument center", fix="pad points in the plane with z = 0")
    radii = _radii(radius, centers)
    if on_host(centers) and not np.isfinite(centers).all():
        raise ArrayError("a centre is infinite or not a number", where="argument center")
    found, reach = implementation(PACKAGE, backend, centers).spheres_up(tree, flat_batch(centers, centers.shape), radii)
    shape = (*centers.shape[:-2], len(tree))
    return give_back(found.reshape((*shape, 3)), center), give_back(reach.reshape(shape), center)


def _radii(radius: Any, centers: Any) -> Any:
    """Radii [B, L, 1], None for points."""
    if radius is None:
        return None
    radii = adopt(radius, "radius")
    if tuple(radii.shape) != tuple(centers.shape[:-1]) or dtype_of(radii) != np.float32:
        what = f"{dtype_of(radii)} of shape {tuple(radii.shape)} is not float32 {list(centers.shape[:-1])}"
        raise ArrayError(what, where="argument radius")
    if on_host(radii) and not ((radii >= 0) & (radii < np.inf)).all():
        raise ArrayError("a radius is negative, infinite or not a number", where="argument radius")
    return flat_batch(radii, (*radii.shape, 1))
