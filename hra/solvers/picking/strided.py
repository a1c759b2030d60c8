"""Every n-th of what is left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.model.problem import Problem
from hra.solvers.picking.picker import Picker


@dataclass(frozen=True)
class Strided(Picker):
    """Every n-th refinement that is left, from the first on, n as large as it can be."""

    def pick(self, problem: Problem, taken: np.ndarray, count: int) -> np.ndarray:
        """See `Picker.pick`."""
        left = np.flatnonzero(~taken)
        return left[:: max(1, len(left) // max(count, 1))][:count]
