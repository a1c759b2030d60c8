"""Bounding spheres of clusters, and spheres that enclose spheres, so that bounds nest from fine to coarse."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit

# Steps of the farthest-point iteration (Badoiu and Clarkson 2003), and how far the first of them and each further one
# go: falling by the same share every time, they end nearer to the smallest sphere than steps of 1 / n.
_STEPS, _FIRST_SHARE, _DECAY = 12, 0.2, 0.8


@njit(cache=True)
def _farthest(spheres, count, reach, center):
    """Largest distance from ``center`` to the far side of a sphere, and which sphere that is."""
    for k in range(count):
        x, y, z = spheres[0, k] - center[0], spheres[1, k] - center[1], spheres[2, k] - center[2]
        reach[k] = np.sqrt(x * x + y * y + z * z) + spheres[3, k]
    best, which = -1.0, 0
    for k in range(count):
        if reach[k] > best:
            best, which = reach[k], k
    return best, which


@njit(cache=True)
def _enclose(spheres, count, reach, trial, center):
    """Move ``trial`` to the farthest sphere with falling steps, the best into ``center``; return its radius."""
    for axis in range(3):
        least, most = np.inf, -np.inf
        for k in range(count):
            least = min(least, spheres[axis, k] - spheres[3, k])
            most = max(most, spheres[axis, k] + spheres[3, k])
        trial[axis] = (least + most) / 2
    best, share = np.inf, _FIRST_SHARE
    # Any centre is valid, since the radius is what reaches the farthest sphere from it: steps only make it smaller.
    for _ in range(_STEPS):
        far, k = _farthest(spheres, count, reach, trial)
        if far < best:
            best = far
            for axis in range(3):
                center[axis] = trial[axis]
        distance = far - spheres[3, k]
        if distance == 0.0:
            break
        # The far side of the sphere, not its centre, is what has to come closer.
        for axis in range(3):
            trial[axis] += (spheres[axis, k] - trial[axis]) * far / distance * share
        share *= _DECAY
    return best


@njit(cache=True)
def _enclose_all(centers, radii, offsets, items, center, radius):
    most = 0
    for g in range(radius.size):
        most = max(most, offsets[g + 1] - offsets[g])
    trial, spheres, reach = np.empty(3), np.empty((4, most)), np.empty(most)
    for g in range(radius.size):
        count = offsets[g + 1] - offsets[g]
        for k in range(count):
            i = items[offsets[g] + k]
            spheres[0, k], spheres[1, k], spheres[2, k] = centers[i, 0], centers[i, 1], centers[i, 2]
            spheres[3, k] = radii[i]
        radius[g] = _enclose(spheres, count, reach, trial, center[g])


def enclosing_spheres(
    centers: np.ndarray, radii: np.ndarray, offsets: np.ndarray, items: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A small sphere around each set of spheres.

    Parameters
    ----------
    centers : [M, 3]; radii : [M]; points are spheres of radius 0.
    offsets : int [G + 1], items : int, set g is ``items[offsets[g]:offsets[g + 1]]``, not empty.

    Returns
    -------
    center float32 [G, 3], radius float32 [G], rounded up so that the inner spheres lie strictly inside.
    """
    center, radius = np.zeros((len(offsets) - 1, 3)), np.zeros(len(offsets) - 1)
    # One kind of integers: every other one would be compiled again.
    sets = offsets.astype(np.int64, copy=False), items.astype(np.int64, copy=False)
    _enclose_all(centers.astype(np.float64), radii.astype(np.float64), *sets, center, radius)
    rounded = center.astype(np.float32)
    # Rounding moved the centre by at most this; one float further up covers the rounding of the radius itself.
    moved = np.sqrt(((rounded - center) ** 2).sum(axis=1))
    reach = (radius + moved) * (1 + 1e-6)
    return rounded, np.nextafter(reach.astype(np.float32), np.float32(np.inf))
