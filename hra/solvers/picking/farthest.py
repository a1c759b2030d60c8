"""The farthest from all that is taken: greedy maximum of the smallest distance."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from hra.compiling import njit
from hra.model.problem import Problem
from hra.solvers.picking.picker import Picker, directions

# Entries of a product of matrices in the time of one that is computed by itself, and products of a matrix and a vector
# in the time that it takes to lay the matrix out for such a product.
_FASTER, _LAYOUT = 8, 2
# A table of at most 64 MiB is made where at least every fourth vector is taken: it is symmetric, and half is enough.
_TABLE, _FEW = 4096, 4
# Rows of the table of similarities that are looked at together for the first, before half of it is computed.
_ROWS = 16


@dataclass(frozen=True)
class Farthest(Picker):
    """Max-min diversity: each is the one whose nearest of those before it is farthest, by cosine distance.

    The first is the one whose nearest neighbour is farthest. After it at most K N similarities are computed by products
    of matrices, and at most as long is spent on single ones: none of these is looked at before its old bound comes
    first.

    Source: S. R. Alvar et al., "DivPrune: diversity-based visual token pruning for large multimodal models" (CVPR
    2025); the greedy rule is T. F. Gonzalez' (1985), at most twice as near as the best possible.

    Parameters
    ----------
    features : name of the node attribute with vectors [N, D].
    """

    features: str = "features"

    def pick(self, problem: Problem, taken: np.ndarray, count: int) -> np.ndarray:
        """See `Picker.pick`."""
        vectors = directions(problem, self.features)
        if not taken.any() and len(vectors) <= min(_FEW * count, _TABLE):
            return _picked_from(vectors @ vectors.T, count)
        nearest = np.full(len(vectors), -np.inf, np.float32)
        if taken.any():
            nearest = _largest(vectors[taken], vectors)
        first = -1 if taken.any() else _loneliest(vectors)
        return _picked(vectors, nearest, taken.copy(), first, count)


def _picked_from(table: np.ndarray, count: int) -> np.ndarray:
    """`_picked` with nothing taken, where all similarities are known anyway."""
    np.fill_diagonal(table, -np.inf)
    chosen = np.empty(count, np.int64)
    nearest = table.max(axis=1, initial=-np.inf)
    for step in range(count):
        best = chosen[step] = int(nearest.argmin())
        nearest = table[best].copy() if step == 0 else np.maximum(nearest, table[best], out=nearest)
        nearest[chosen[: step + 1]] = np.inf
    return chosen


def _picked(vectors: np.ndarray, nearest: np.ndarray, closed: np.ndarray, first: int, count: int) -> np.ndarray:
    chosen, begin = np.empty(count, np.int64), 0
    while begin < count:
        end = begin + _pick(vectors, nearest, closed, first if begin == 0 else -1, chosen[begin:])
        if end < count:
            np.maximum(nearest, _largest(vectors[chosen[begin:end]], vectors), out=nearest)
        begin = end
    return chosen


def _largest(vectors: np.ndarray, among: np.ndarray) -> np.ndarray:
    """The largest product with one of ``vectors``, for each of ``among``."""
    return (vectors @ among.T).max(axis=0, initial=-np.inf)


@njit(cache=True)
def _pick(vectors, nearest, closed, first, chosen):
    """Similarity to what is taken only grows, so that what was known of it once bounds it from below.

    Ends early where it would have been cheaper to bring all up to date at once; returns how many were picked.
    """
    known, work, picked = np.zeros(len(vectors), np.int64), 0, 0
    if first >= 0:
        chosen[0], closed[first], picked = first, True, 1
    # To look through all of them for the least after each that is brought up to date would take longest of all.
    heap = [(nearest[i], i) for i in range(len(vectors)) if not closed[i]]
    heapq.heapify(heap)
    for step in range(picked, len(chosen)):
        if is_dear(work, len(vectors), step):
            return step
        best = heap[0][1]
        while known[best] < step:
            work += step - known[best]
            for t in range(known[best], step):
                nearest[best] = max(nearest[best], np.dot(vectors[best], vectors[chosen[t]]))
            known[best] = step
            heapq.heapreplace(heap, (nearest[best], best))
            best = heap[0][1]
        heapq.heappop(heap)
        chosen[step], closed[best] = best, True
    return len(chosen)


@njit(cache=True)
def is_dear(work, count, steps):
    """Whether ``work`` entries one by one took longer than the ``steps`` columns of all ``count`` rows together."""
    return work > count * (_LAYOUT + steps / _FASTER)


def _loneliest(vectors: np.ndarray) -> int:
    """The one whose most similar other is least similar.

    Similarity is symmetric, so that each row bounds all others from below; a few rows often settle it.
    """
    bound = np.full(len(vectors), -np.inf, np.float32)
    known = np.zeros(len(vectors), np.bool_)
    beside = (vectors[1:] * vectors[:-1]).sum(axis=1)  # neighbours in the order are the most similar, as a rule
    bound[1:] = beside
    bound[:-1] = np.maximum(bound[:-1], beside)
    rows = _ROWS
    while known.sum() + rows <= len(vectors) // 16:
        candidates = np.argpartition(np.where(known, np.inf, bound), rows)[:rows]
        table = vectors[candidates] @ vectors.T
        table[np.arange(rows), candidates] = -np.inf
        np.maximum(bound, table.max(axis=0), out=bound)
        bound[candidates], known[candidates] = table.max(axis=1), True
        if known[bound.argmin()]:
            return int(bound.argmin())
        rows *= 2
    return _of_all(vectors)


def _of_all(vectors: np.ndarray) -> int:
    """`_loneliest` from all similarities, some rows at a time and each pair once."""
    largest = np.full(len(vectors), -np.inf, np.float32)
    for begin in range(0, len(vectors), 256):
        rows = vectors[begin : begin + 256] @ vectors[begin:].T
        np.fill_diagonal(rows, -np.inf)
        np.maximum(largest[begin:], rows.max(axis=0), out=largest[begin:])
        ahead = largest[begin : begin + 256]
        np.maximum(ahead, rows.max(axis=1), out=ahead)
    return int(largest.argmin())
