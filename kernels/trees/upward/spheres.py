"""Bounding spheres of all nodes of a tree, nested from fine to coarse."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.errors import ArrayError
from hra.kernels.arrays import adopt, dtype_of, give_back, on_host
from hra.kernels.backends import implementation
from hra.kernels.trees.tree import Tree
from hra.kernels.trees.upward.reductions import PACKAGE, check_leaves, flat_batch


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
