"""Discs of the nodes of a tree over points: as large as what they stand for, with what is lost by them.

The rows of leaves are points, or nodes of which the trees below were made before.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hra.domains.points.moments import Moments, at_least_the_children, moments_of

# A surface that fills a square of side a has the covariance's trace a**2 / 6.
_SIDE2 = 6.0
# Points of the cell from which the radius of a point is known.
NEIGHBOURS = 8
# Squared radius of the disc that stands for a square, in traces: 1.5 is inscribed in it, 1.9 has its area, 3 reaches
# its corners. Measured, see examples/lab/docs/decisions.md.
_DISC = 1.5
# The share of a disc that sticks out of what it stands for: this times its squared size relative to the whole cloud's.
# Measured, see examples/lab/docs/decisions.md: thickness and facing, which say more of the surface, gave worse
# pictures.
_OVERHANG = 1000.0
_TINY = np.finfo(np.float32).tiny


def counts_of(parent: np.ndarray, leaf: np.ndarray, values: np.ndarray) -> Moments:
    """Moments of every node with points of mass 1; for `spacing`."""
    return moments_of(parent, leaf, np.ones(len(leaf), np.float32), values, np.zeros(values.shape, np.float32))


def spacing(parent: np.ndarray, leaf: np.ndarray, counts: Moments) -> np.ndarray:
    """Radius of the points of each leaf [P]: the side of the share of one in the least cell of 8 points or more."""
    trace = spreads(counts) / counts.mass
    share = np.sqrt(_SIDE2 * trace / counts.mass)
    return share[_crowded(parent, leaf, counts.mass, NEIGHBOURS)]


def areas_of(parent: np.ndarray, leaf: np.ndarray, values: np.ndarray, radii: np.ndarray) -> Moments:
    """Moments of every node with points of the masses of their discs."""
    area = np.maximum(np.pi * radii.astype(float) ** 2, _TINY).astype(np.float32)
    return moments_of(parent, leaf, area, values, np.zeros(values.shape, np.float32))


def disc_sizes(parent: np.ndarray, leaf: np.ndarray, found: Moments, finest: np.ndarray) -> np.ndarray:
    """Radii of all nodes float32 [N], from moments by area and the radii of the leaves [P]."""
    size = np.sqrt(_DISC * (spreads(found) / found.mass))
    size[leaf] = finest
    _at_least_a_leaf(parent, size)
    return size


def spreads(found: Moments) -> np.ndarray:
    """The squared distances of all below from the mean, times mass, float32 [N]."""
    return found.spread[:, [0, 3, 5]].sum(axis=1)


def overhangs(size: np.ndarray, whole: np.float32) -> np.ndarray:
    """What sticks out of each disc float32 [N]; ``whole`` : radius of the disc of the whole cloud."""
    share = _OVERHANG * (size / max(float(whole), _TINY)) ** 2
    return np.pi * size**2 * share


def raised(parent: np.ndarray, leaf: np.ndarray, loss: np.ndarray, finest: np.ndarray | float) -> np.ndarray:
    """A loss of every node float32 [N], from fine to coarse no less than below; ``finest`` : of the leaves [P]."""
    loss[leaf] = finest
    at_least_the_children(parent, loss)
    return loss


@njit(cache=True, nogil=True)
def _crowded(parent, leaf, count, least):
    """The nearest node above each leaf that holds at least so many points, else the root."""
    result = np.empty(leaf.size, np.int64)
    for i in range(leaf.size):
        v = leaf[i]
        while count[v] < least and parent[v] >= 0:
            v = parent[v]
        result[i] = v
    return result


@njit(cache=True, nogil=True)
def _at_least_a_leaf(parent, size):
    """A disc is no smaller than the largest of those that it replaces."""
    for v in range(parent.size - 1, 0, -1):
        if parent[v] >= 0:
            size[parent[v]] = max(size[parent[v]], size[v])
