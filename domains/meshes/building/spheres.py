"""Bounding spheres of clusters, and spheres that enclose spheres, so that bounds nest from fine to coarse."""

from __future__ import annotations

import numpy as np

from hra.kernels.trees import Tree, spheres_up


def enclosing_spheres(
    centers: np.ndarray, radii: np.ndarray, offsets: np.ndarray, items: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A small sphere around each set of spheres.

    Parameters
    ----------
    centers : float32 [M, 3]; radii : float32 [M]; points are spheres of radius 0.
    offsets : int [G + 1], items : int, set g is ``items[offsets[g]:offsets[g + 1]]``, not empty.

    Returns
    -------
    center float32 [G, 3], radius float32 [G]; the inner spheres lie inside in exact arithmetic.
    """
    center, radius = spheres_up(Tree.of_runs(offsets), centers[items], radii[items])
    return center[: len(offsets) - 1], radius[: len(offsets) - 1]
