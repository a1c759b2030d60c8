"""Which points of a cloud each node of a COPC file holds: every point in one node, samples above the rest."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hra.kernels.trees import morton_codes, sort_keys

# Digits of Morton codes; cells along the side of a node, of which each gives it one point, in digits; points of a node
# that is not split. A surface takes about 64 * 64 of the cells, so that nodes with and without children are alike.
_DIGITS, CELL_DIGITS, _WHOLE = 21, 6, 10_000


class Level(NamedTuple):
    """The nodes of one level.

    Attributes
    ----------
    keys : int32 [n, 3], their cells. counts : int64 [n], points of each; rows : int32, the points, node after node.
    """

    keys: np.ndarray
    counts: np.ndarray
    rows: np.ndarray


def additive_levels(places: np.ndarray, low: np.ndarray, side: float) -> list[Level]:
    """Levels of an octree, coarse to fine, which together hold every point once.

    Of what a node is given, each of its 64 x 64 x 64 cells leaves it the point next to the mean of those in it; the
    rest goes to its children. A node of few points keeps them all.

    Parameters
    ----------
    places : float64 [P, 3], within a cube of this low corner and side.
    """
    codes, waiting = sort_keys(morton_codes(places, bounds=np.stack([low, low + side])))
    found = []
    for level in range(_DIGITS - CELL_DIGITS + 1):
        below = _cells(codes, level)
        begins = _begins(below)
        counts = np.diff(begins, append=len(codes))
        whole = counts <= (_WHOLE if level < _DIGITS - CELL_DIGITS else len(codes))
        kept = np.repeat(whole, counts)
        kept[_samples(places[waiting], _cells(codes, level + CELL_DIGITS))] = True
        found.append(Level(_keys(below[begins], level), np.add.reduceat(kept, begins, dtype=np.int64), waiting[kept]))
        codes, waiting = codes[~kept], waiting[~kept]
        if not len(codes):
            break
    return found


def _cells(codes: np.ndarray, level: int) -> np.ndarray:
    return codes >> np.uint64(3 * (_DIGITS - level))


def _begins(cells: np.ndarray) -> np.ndarray:
    return np.flatnonzero(np.concatenate([[True], cells[1:] != cells[:-1]]))


def _samples(places: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Of each run of equal cells, the place next to the mean; the first of several."""
    begins = _begins(cells)
    counts = np.diff(begins, append=len(cells))
    means = np.add.reduceat(places, begins) / counts[:, None]
    apart = ((places - np.repeat(means, counts, axis=0)) ** 2).sum(axis=1)
    nearest = np.flatnonzero(apart == np.repeat(np.minimum.reduceat(apart, begins), counts))
    return nearest[_begins(cells[nearest])]


def _keys(cells: np.ndarray, level: int) -> np.ndarray:
    """The cells along each axis of Morton codes of so many digits."""
    keys = np.zeros((len(cells), 3), np.int32)
    for digit in range(level):
        for axis in range(3):
            bit = (cells >> np.uint64(3 * digit + axis)) & np.uint64(1)
            keys[:, axis] |= (bit << np.uint64(digit)).astype(np.int32)
    return keys
