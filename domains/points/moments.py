"""Moments of all nodes of a tree: mass, mean, covariance and colour, merged from the leaves up.

Two groups merge as in Chan, Golub and LeVeque, Updating Formulae and a Pairwise Algorithm for Computing Sample
Variances (1979): no squares of large coordinates are subtracted from each other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

# xx, xy, xz, yy, yz, zz
_AXES = np.array([[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]])


class Moments(NamedTuple):
    """Of every node, float32.

    Attributes
    ----------
    mass : [N], the sum of the leaves'. mean : [N, 6], position and colour, by mass.
    spread : [N, 6], the sum over leaves of mass times (covariance + outer product of the distance from the mean).
    color_loss : [N], the sum over leaves of mass times the squared distance of colours from the mean.
    reach : [N], a sphere around the mean that contains the spheres of all that is below.
    """

    mass: np.ndarray
    mean: np.ndarray
    spread: np.ndarray
    color_loss: np.ndarray
    reach: np.ndarray


def moments_of(parent: np.ndarray, leaf: np.ndarray, mass: np.ndarray, values: np.ndarray, own: np.ndarray) -> Moments:
    """Moments of every node of a tree in level order.

    Parameters
    ----------
    parent : int32 [N]; leaf : int32 [P], the node of each leaf. mass : [P]; values : [P, 6], position and colour.
    own : [P, 6], the covariance of each leaf itself.
    """
    none = np.zeros(len(leaf), np.float32)
    return merged(parent, leaf, Moments(mass, values, own * mass[:, None], none, none))


def merged(parent: np.ndarray, leaf: np.ndarray, finest: Moments) -> Moments:
    """Moments of every node of a tree in level order from those of its leaves, ``leaf`` int32 [P]."""
    count = len(parent)
    shapes = ((count,), (count, 6), (count, 6), (count,), (count,))
    found = Moments(*(np.zeros(shape, np.float32) for shape in shapes))
    for rows, own in zip(found, finest, strict=True):
        rows[leaf] = own
    _merge(parent, *found[:4])
    _reach(parent, found.mean, found.reach)
    return found


@njit(cache=True, nogil=True)
def _merge(parent, mass, mean, spread, color_loss):
    """Children stand behind their parents: from the last node on, each is complete before it is passed up."""
    for v in range(parent.size - 1, 0, -1):
        p = parent[v]
        if p < 0:
            continue
        total = np.float64(mass[p]) + np.float64(mass[v])
        share = mass[v] / total if total > 0.0 else 1.0
        both = mass[p] * share
        apart = mean[v].astype(np.float64) - mean[p].astype(np.float64)
        if mass[p] == 0.0:
            share, both = 1.0, 0.0
        for k in range(6):
            spread[p, k] += spread[v, k] + both * apart[_AXES[k, 0]] * apart[_AXES[k, 1]]
            mean[p, k] += np.float32(share * apart[k])
        color_loss[p] += color_loss[v] + both * (apart[3] ** 2 + apart[4] ** 2 + apart[5] ** 2)
        mass[p] = total


@njit(cache=True, nogil=True)
def _reach(parent, mean, reach):
    for v in range(parent.size - 1, 0, -1):
        p = parent[v]
        if p >= 0:
            x, y, z = mean[v, 0] - mean[p, 0], mean[v, 1] - mean[p, 1], mean[v, 2] - mean[p, 2]
            # A float32 and a few roundings more, so that spheres nest.
            reach[p] = max(reach[p], np.float32((np.sqrt(x * x + y * y + z * z) + reach[v]) * 1.000001))


@njit(cache=True, nogil=True)
def at_least_the_children(parent, loss):
    """Raise what a node loses to the sum of what its children lose, from fine to coarse."""
    below = np.zeros(loss.size, np.float64)
    for v in range(parent.size - 1, -1, -1):
        loss[v] = max(np.float64(loss[v]), below[v] * 1.000001)
        if parent[v] >= 0:
            below[parent[v]] += loss[v]
