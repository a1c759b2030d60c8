"""The largest values first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.model.problem import Problem
from hra.solvers.picking.picker import Picker, attribute


@dataclass(frozen=True)
class Top(Picker):
    """The largest values of a node attribute, by default the gains; ties in the given order."""

    by: str | None = None

    def pick(self, problem: Problem, taken: np.ndarray, count: int) -> np.ndarray:
        """See `Picker.pick`."""
        values = problem.gain if self.by is None else attribute(problem, self.by)
        left = np.flatnonzero(~taken)
        return left[np.argsort(-values[left], kind="stable")[:count]]
