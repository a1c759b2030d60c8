"""The best of every band of a sequence, in proportion to what the band is worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.model.problem import Problem
from hra.solvers.picking.picker import Picker, attribute


@dataclass(frozen=True)
class Bands(Picker):
    """Runs of equal length, each with a share of the count by its mean; of each run the largest values.

    What rounding down leaves goes one by one to the runs of the largest mean, and what a run has no room for to the
    others in the same way.

    Source: X. Zou et al., "HoloV" (NeurIPS 2025).

    Parameters
    ----------
    count : of runs; the first ones are longer by one where they cannot be equal.
    by : node attribute that is compared, by default the gains, >= 0.
    """

    count: int = 16
    by: str | None = None

    def pick(self, problem: Problem, taken: np.ndarray, count: int) -> np.ndarray:
        """See `Picker.pick`."""
        values = problem.gain if self.by is None else attribute(problem, self.by)
        left = np.flatnonzero(~taken)
        runs = [run for run in np.array_split(left, self.count) if len(run)]
        worth = np.array([values[run].mean() for run in runs])
        counts = _shared(worth, np.array([len(run) for run in runs]), count)
        best = [run[np.argsort(-values[run], kind="stable")[:most]] for run, most in zip(runs, counts, strict=True)]
        return np.concatenate(best) if best else left


def _shared(worth: np.ndarray, room: np.ndarray, count: int) -> np.ndarray:
    """Counts that add up to ``count``, none above its room: int64."""
    total = worth.sum()
    share = worth / total if total > 0 else np.full(len(worth), 1 / max(len(worth), 1))
    counts = np.minimum(np.floor(share * count).astype(np.int64), room)
    order = np.argsort(-worth, kind="stable")
    while counts.sum() < count:
        free = order[counts[order] < room[order]]
        counts[free[: count - counts.sum()]] += 1
    return counts
