"""The largest determinant: what is relevant and unlike all that is taken."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from hra.compiling import njit
from hra.model.problem import Problem
from hra.solvers.picking.farthest import is_dear
from hra.solvers.picking.picker import Picker, directions

# Of an entry: that of the vectors, that with the factor, and the time until both are there.
_PRODUCTS = 3
_LEAST = 1e-12  # of a determinant's factor; below it all that is left repeats what is taken


@dataclass(frozen=True)
class Determinant(Picker):
    """Greedy maximum of the determinant of ``gain_i cos(i, j) gain_j`` over what is taken.

    An incremental Cholesky factor brings up to date only what may come first, and all at once where that would have
    been cheaper, so that the time is that of K N entries at most. Where all that is left repeats what is taken, the
    largest gains come next.

    Source: L. Chen, G. Zhang and E. Zhou, "Fast greedy MAP inference for determinantal point process" (NeurIPS 2018);
    lazily as A. Hemmi et al. (2022); Q. Zhang et al., "CDPruner" (2025).

    Parameters
    ----------
    features : name of the node attribute with vectors [N, D].
    """

    features: str = "features"

    def pick(self, problem: Problem, taken: np.ndarray, count: int) -> np.ndarray:
        """See `Picker.pick`."""
        gain = problem.gain.astype(np.float32)
        vectors = directions(problem, self.features) * gain[:, None]
        chosen, found = _picked(vectors, np.where(taken, -np.inf, gain * gain).astype(np.float32), count)
        chosen[found:] = _largest(gain, taken, chosen[:found], count - found)
        return chosen


def _picked(vectors: np.ndarray, left: np.ndarray, count: int) -> tuple[np.ndarray, int]:
    """What is chosen, and how many of it before all that is left repeats it."""
    factor, chosen = np.zeros((len(vectors), count), np.float32), np.zeros(count, np.int64)
    begin = 0
    while begin < count:
        before = left.copy()
        end, repeats = _pick(vectors, left, factor, chosen, begin)
        if repeats:
            return chosen, end
        if end < count:
            _bring_up(vectors, left, before, factor, chosen[begin:end], begin)
        begin = end
    return chosen, count


def _bring_up(vectors, left, before, factor, part, begin):
    """Columns of the factor for what is chosen from ``begin`` on, by one triangular system for all rows."""
    end = begin + len(part)
    triangle = factor[part, begin:end]
    right = vectors[part] @ vectors.T - factor[part, :begin] @ factor[:, :begin].T
    columns = np.linalg.inv(triangle.astype(np.float64)).astype(np.float32) @ right
    factor[:, begin:end] = columns.T
    factor[part, begin:end] = triangle
    np.subtract(before, np.einsum("tn,tn->n", columns, columns), out=left)
    left[part] = -np.inf


@njit(cache=True)
def _pick(vectors, left, factor, chosen, begin):
    """What a determinant gains only falls, so that what was known of it once bounds it from above.

    Returns how many are chosen, which is not all where `is_dear`, and whether all that is left repeats them.
    """
    known, work = np.full(len(vectors), begin), 0
    heap = [(-left[i], i) for i in range(len(vectors))]
    heapq.heapify(heap)
    for step in range(begin, len(chosen)):
        if is_dear(work, len(vectors), step - begin):
            return step, False
        best = heap[0][1]
        while known[best] < step:
            work += _PRODUCTS * (step - known[best])
            for t in range(known[best], step):
                taken = chosen[t]
                cross = np.dot(vectors[best], vectors[taken]) - np.dot(factor[best, :t], factor[taken, :t])
                factor[best, t] = cross / factor[taken, t]
                left[best] -= factor[best, t] * factor[best, t]
            known[best] = step
            heapq.heapreplace(heap, (-left[best], best))
            best = heap[0][1]
        if not left[best] > _LEAST:
            return step, True
        heapq.heappop(heap)
        chosen[step], factor[best, step] = best, np.sqrt(left[best])
        left[best] = -np.inf
    return len(chosen), False


def _largest(gain: np.ndarray, taken: np.ndarray, chosen: np.ndarray, count: int) -> np.ndarray:
    rest = np.setdiff1d(np.flatnonzero(~taken), chosen)
    return rest[np.argsort(-gain[rest], kind="stable")[:count]]
