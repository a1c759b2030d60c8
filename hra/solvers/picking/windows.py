"""The best of every window of a grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.model.problem import Problem
from hra.solvers.apportionment import largest_remainder
from hra.solvers.picking.picker import Picker, attribute


@dataclass(frozen=True)
class Windows(Picker):
    """Equally many of every window of a grid, those of the largest values.

    Parameters
    ----------
    by : node attribute that is compared, by default the gains.
    side : of a window, in steps of the node attributes "x" and "y".
    """

    by: str | None = None
    side: int = 6

    def pick(self, problem: Problem, taken: np.ndarray, count: int) -> np.ndarray:
        """See `Picker.pick`."""
        values = problem.gain if self.by is None else attribute(problem, self.by)
        left = np.flatnonzero(~taken)
        x, y = (attribute(problem, name)[left] // self.side for name in ("x", "y"))
        _, window = np.unique(y * (x.max(initial=0) + 1) + x, return_inverse=True)
        members = np.bincount(window)
        counts = largest_remainder(np.ones(len(members)), count, members, minimum=0)
        order = np.lexsort((-values[left], window))
        rank = np.arange(len(left)) - np.repeat(np.cumsum(members) - members, members)
        return left[order[rank < counts[window[order]]]]
