"""The farthest from all that is taken: greedy maximum of the smallest distance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.compiling import njit
from hra.model.problem import Problem
from hra.solvers.picking.picker import Picker, directions

# Rows of the table of similarities that are looked at one by one, before all are computed at once.
_ROWS = 12
# Vectors of which the whole table is kept: 64 MiB.
_TABLE = 4096


@dataclass(frozen=True)
class Farthest(Picker):
    """Max-min diversity: each is the one whose nearest of those before it is farthest, by cosine distance.

    The first is the one whose nearest neighbour is farthest. At most K N similarities are computed after the first, and
    far fewer as a rule: none is looked at again before its old bound comes first.

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
        if taken.any():
            return _pick(vectors, (vectors @ vectors[taken].T).max(axis=1), taken.copy(), -1, count)
        first = _loneliest(vectors)
        if first < 0 and len(vectors) <= _TABLE:
            return _pick_from(vectors @ vectors.T, count)
        first = _of_all(vectors) if first < 0 else first
        return _pick(vectors, np.full(len(vectors), -np.inf, np.float32), taken.copy(), first, count)


@njit(cache=True)
def _pick(vectors, nearest, closed, first, count):
    """Similarity to what is taken only grows, so that what was known of it once bounds it from below."""
    chosen, known = np.empty(count, np.int64), np.zeros(len(vectors), np.int64)
    for step in range(count):
        best = first if step == 0 and first >= 0 else _least(nearest, closed)
        while known[best] < step:
            for t in range(known[best], step):
                nearest[best] = max(nearest[best], np.dot(vectors[best], vectors[chosen[t]]))
            known[best] = step
            best = _least(nearest, closed)
        chosen[step], closed[best] = best, True
    return chosen


@njit(cache=True)
def _least(values, closed):
    best = -1
    for i in range(values.size):
        if not closed[i] and (best < 0 or values[i] < values[best]):
            best = i
    return best


def _pick_from(table: np.ndarray, count: int) -> np.ndarray:
    """As `_pick` with nothing taken, where all similarities are known anyway."""
    np.fill_diagonal(table, -np.inf)
    chosen = np.empty(count, np.int64)
    nearest = table.max(axis=1, initial=-np.inf)
    for step in range(count):
        best = chosen[step] = int(nearest.argmin())
        nearest = table[best].copy() if step == 0 else np.maximum(nearest, table[best], out=nearest)
        nearest[chosen[: step + 1]] = np.inf
    return chosen


def _loneliest(vectors: np.ndarray) -> int:
    """The one whose most similar other is least similar, or -1 where few rows of similarities do not tell.

    Similarity is symmetric, so that each row bounds all others from below.
    """
    bound = np.full(len(vectors), -np.inf, np.float32)
    known = np.zeros(len(vectors), np.bool_)
    beside = (vectors[1:] * vectors[:-1]).sum(axis=1)  # neighbours in the order are the most similar, as a rule
    bound[1:] = beside
    bound[:-1] = np.maximum(bound[:-1], beside)
    for _ in range(_ROWS):
        candidate = int(bound.argmin())
        if known[candidate]:
            return candidate
        row = vectors @ vectors[candidate]
        row[candidate] = -np.inf
        np.maximum(bound, row, out=bound)
        bound[candidate], known[candidate] = row.max(initial=-np.inf), True
    return -1


def _of_all(vectors: np.ndarray) -> int:
    """As `_loneliest`, from all similarities, some rows at a time."""
    largest = np.empty(len(vectors), np.float32)
    for begin in range(0, len(vectors), 512):
        rows = vectors[begin : begin + 512] @ vectors.T
        rows[np.arange(len(rows)), np.arange(begin, begin + len(rows))] = -np.inf
        largest[begin : begin + 512] = rows.max(axis=1, initial=-np.inf)
    return int(largest.argmin())
