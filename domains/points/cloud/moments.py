"""Moments of all nodes of a tree, merged from the leaves up, and the discs that follow from them.

Moments are mass, mean, covariance and colour. Two groups merge as in Chan, Golub and LeVeque, Updating Formulae and a
Pairwise Algorithm for Computing Sample Variances (1979): no squares of large coordinates are subtracted from each
other.

A disc is as large as what it stands for, and knows what is lost by it. The rows of leaves are points, or nodes of which
the trees below were made before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from hra.compiling import njit
from hra.errors import ArrayError

# xx, xy, xz, yy, yz, zz
_AXES = np.array([[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]])
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
_TINY, _HUGE = np.finfo(np.float32).tiny, float(np.finfo(np.float32).max)
# What sticks out of a disc overflows beyond, whatever it covers.
_LARGEST = 1e17


class Moments(NamedTuple):
    """Moments of every node, float32.

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


def check_finite(arrays: Iterable[np.ndarray], mass: float, extent: float, widest: float, count: int) -> None:
    """Refuse a cloud of which float32 does not hold what its nodes are and lose: losses grow as the fourth of lengths.

    Parameters
    ----------
    arrays : what was found. mass : of all. extent : of the positions; widest : radius or standard deviation.
    count : of points or splats.

    Raises
    ------
    ArrayError : a number that is not finite; the message tells what length would do.
    """
    if all(np.isfinite(array).all() for array in arrays):
        return
    size = max(extent, widest)
    mass = mass if np.isfinite(mass) else 2 * np.pi * widest**2 * count  # at most
    # Masses times squared distances add up to 4 times mass times squared size at most, and mass grows as the square.
    most = size * (_HUGE / max(4 * mass * size**2, float(_TINY))) ** 0.25
    most = min(most, _LARGEST)
    if most >= size:
        raise ArrayError("colours or harmonics are too large for the variance of float32", where="colors")
    what = f"the cloud is too large for float32: its extent is {extent:.3g}, its widest point or splat {widest:.3g}"
    raise ArrayError(
        what, where="positions", fix=f"scale it, or drop what is wrong, so that both are {most:.2g} or less"
    )


def raised(parent: np.ndarray, leaf: np.ndarray, loss: np.ndarray, finest: np.ndarray | float) -> np.ndarray:
    """A loss of every node float32 [N], from fine to coarse no less than below; ``finest`` : of the leaves [P]."""
    loss[leaf] = finest
    at_least_the_children(parent, loss)
    return loss


@njit(cache=True, nogil=True)
def _crowded(parent, leaf, count, least):
    """The nearest node above each leaf that holds at least this many points, else the root."""
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


def likenesses(parent: np.ndarray, leaf: np.ndarray, mean: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The leaf that stands for each node where numbers have no mean: of its children's, that next to its mean.

    Parameters
    ----------
    leaf : int [P], the node of each leaf; mean : [N, 3 or more]; places : [P, 3] of the leaves' own likenesses.

    Returns
    -------
    int64 [N], numbers of leaves; the first of several.
    """
    found = np.full(len(parent), -1, np.int64)
    found[leaf] = np.arange(len(leaf))
    _likenesses(parent, mean, np.ascontiguousarray(places, np.float32), found)
    return found


@njit(cache=True, nogil=True)
def _likenesses(parent, mean, places, found):
    nearest = np.full(parent.size, np.inf)
    for v in range(parent.size - 1, 0, -1):
        p, i = parent[v], found[v]
        if p >= 0:
            far = 0.0
            for k in range(3):
                far += (np.float64(places[i, k]) - np.float64(mean[p, k])) ** 2
            if far <= nearest[p]:
                nearest[p], found[p] = far, i


def commonest(parent: np.ndarray, leaf: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The value that most points below each node have, the least if tied, [N] in the type of ``values`` [P].

    It takes the time of points times levels at most, however many values there are.
    """
    own, numbers = np.unique(values, return_inverse=True)
    return own[_commonest(parent, leaf, numbers.reshape(-1), len(own))]


@njit(cache=True, nogil=True)
def _commonest(parent, leaf, numbers, values):
    """Each path from a node to a leaf by the largest children counts its own leaves once, from its end up."""
    nodes = parent.size
    size, begin, given = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    largest = np.full(nodes, -1, np.int64)
    for i in range(leaf.size):
        size[leaf[i]] = 1
    for v in range(nodes - 1, 0, -1):
        size[parent[v]] += size[v]
    for v in range(1, nodes):  # the leaves below a node follow each other
        p = parent[v]
        begin[v] = begin[p] + given[p]
        given[p] += size[v]
        if largest[p] < 0 or size[v] > size[largest[p]]:
            largest[p] = v
    ordered, counts, found = np.empty_like(numbers), np.zeros(values, np.int64), np.zeros(nodes, np.int64)
    for i in range(leaf.size):
        ordered[begin[leaf[i]]] = numbers[i]
    for top in range(nodes):
        if top > 0 and largest[parent[top]] == top:
            continue
        v = top
        while largest[v] >= 0:
            v = largest[v]
        low, high, best, most = begin[v], begin[v], 0, 0
        while True:
            for i in range(begin[v], begin[v] + size[v] - (high - low)):
                # Those before and behind what is counted.
                number = ordered[i if i < low else i + high - low]
                counts[number] += 1
                if counts[number] > most or (counts[number] == most and number < best):
                    best, most = number, counts[number]
            low, high, found[v] = begin[v], begin[v] + size[v], best
            if v == top:
                break
            v = parent[v]
        for i in range(low, high):
            counts[ordered[i]] = 0
    return found


def majorities(
    parent: np.ndarray, leaf: np.ndarray, values: np.ndarray, count: Callable[[Any], np.ndarray]
) -> np.ndarray:
    """The value that most points below each node have, the least if tied, float64 [N].

    Parameters
    ----------
    values : [C], rising; count : from one of them to the points of each leaf that have it, int or bool [P].
    """
    found, most, own = np.zeros(len(parent)), np.zeros(len(parent), np.int64), np.zeros(len(parent), np.int64)
    for value in values:
        own[:] = 0
        own[leaf] = count(value)
        _add_up(parent, own)
        better = own > most
        found[better], most[better] = value, own[better]
    return found


@njit(cache=True, nogil=True)
def _add_up(parent, own):
    for v in range(parent.size - 1, 0, -1):
        if parent[v] >= 0:
            own[parent[v]] += own[v]
