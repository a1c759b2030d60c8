"""The largest determinant: what is relevant and unlike all that is taken."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.compiling import njit
from hra.model.problem import Problem
from hra.solvers.picking.picker import Picker, directions

_LEAST = 1e-12  # of a determinant's factor; below it all that is left repeats what is taken


@dataclass(frozen=True)
class Determinant(Picker):
    """Greedy maximum of the determinant of ``gain_i cos(i, j) gain_j`` over what is taken.

    At most K N entries of the table are computed, and far fewer as a rule: an incremental Cholesky factor brings up to
    date only what may come first. Where all that is left repeats what is taken, the largest gains come next.

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
        chosen, found = _pick(vectors, np.where(taken, -np.inf, gain * gain).astype(np.float32), count)
        chosen[found:] = _largest(gain, taken, chosen[:found], count - found)
        return chosen


@njit(cache=True)
def _pick(vectors, left, count):
    """What a determinant gains only falls, so that what was known of it once bounds it from above; also how many."""
    factor = np.zeros((len(vectors), count), np.float32)
    chosen, known = np.zeros(count, np.int64), np.zeros(len(vectors), np.int64)
    for step in range(count):
        best = int(left.argmax())
        while known[best] < step:
            for t in range(known[best], step):
                taken = chosen[t]
                cross = np.dot(vectors[best], vectors[taken]) - np.dot(factor[best, :t], factor[taken, :t])
                factor[best, t] = cross / factor[taken, t]
                left[best] -= factor[best, t] * factor[best, t]
            known[best] = step
            best = int(left.argmax())
        if not left[best] > _LEAST:
            return chosen, step
        chosen[step], factor[best, step] = best, np.sqrt(left[best])
        left[best] = -np.inf
    return chosen, count


def _largest(gain: np.ndarray, taken: np.ndarray, chosen: np.ndarray, count: int) -> np.ndarray:
    rest = np.setdiff1d(np.flatnonzero(~taken), chosen)
    return rest[np.argsort(-gain[rest], kind="stable")[:count]]
