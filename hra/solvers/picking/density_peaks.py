"""Centres of clusters: dense, and far from anything denser."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.compiling import njit
from hra.errors import OutOfMemory
from hra.model.problem import Problem
from hra.solvers.picking.picker import Picker, vectors


@dataclass(frozen=True)
class DensityPeaks(Picker):
    """Of all that is not taken, those with the largest product of density and distance to the nearest denser one.

    Density is ``exp(-mean squared distance)`` to the nearest ones, itself among them; distances are Euclidean over the
    root of the number of dimensions. Of equal densities the first counts as denser.

    Source: M. Du, S. Ding and H. Jia, "Study on density peaks clustering based on k-nearest neighbors and principal
    component analysis" (Knowledge-Based Systems 2016), as X. Huang et al., "PruneVid" (2024) use it.

    Parameters
    ----------
    features : name of the node attribute with vectors [N, D].
    neighbours : that density looks at.
    """

    features: str = "features"
    neighbours: int = 7

    def pick(self, problem: Problem, taken: np.ndarray, count: int) -> np.ndarray:
        """See `Picker.pick`; OutOfMemory where the distances of all to all others do not fit."""
        left = np.flatnonzero(~taken)
        try:
            return left[density_peaks(vectors(problem, self.features)[left], count, self.neighbours)]
        except MemoryError as error:
            what = f"the distances of {len(left):,} items to each other are too large for this machine"
            fix = "use fewer items (frames of a video), or a method that compares fewer, such as evs or divprune"
            raise OutOfMemory(what, where="DensityPeaks", fix=fix) from error


def density_peaks(points: np.ndarray, count: int, neighbours: int) -> np.ndarray:
    """Indices of the ``count`` best centres among ``points`` [N, D], best first, int64."""
    if not len(points):
        return np.empty(0, np.int64)
    squares = squared_distances(points, points)
    near = np.partition(squares, min(neighbours, len(points)) - 1, axis=1)[:, :neighbours]
    # Its logarithm has the same order, and does not vanish where all are far.
    density = -near.mean(axis=1) / points.shape[1]
    order = np.argsort(-density, kind="stable")
    rank = np.empty(len(points), np.int64)
    rank[order] = np.arange(len(points))
    nearest = _nearest_denser(squares, rank)
    nearest[order[0]] = squares.max()
    with np.errstate(divide="ignore"):
        score = density + 0.5 * np.log(nearest)
    return np.argsort(-score, kind="stable")[:count]


def squared_distances(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Squared Euclidean distances [N, M] of points [N, D] and [M, D], >= 0."""
    lengths, more = (np.einsum("nd,nd->n", each, each) for each in (points, others))
    squares = points @ others.T
    squares *= -2
    squares += lengths[:, None]
    squares += more
    return np.maximum(squares, 0, out=squares)


@njit(cache=True)
def _nearest_denser(squares, rank):
    """The least entry [N] of each row among columns of lower rank, infinite where there is none."""
    nearest = np.full(len(rank), np.inf, squares.dtype)
    for i in range(len(rank)):
        row, least = squares[i], nearest[i]
        for j in range(len(rank)):
            if rank[j] < rank[i]:
                least = min(least, row[j])
        nearest[i] = least
    return nearest
