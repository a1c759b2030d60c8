"""What a frame of a trace wants, cut down to what the pool holds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from hra.residency.pool import ResidentPool
from hra.residency.trace import Trace
from hra.traversals.hull import Hull


@dataclass(frozen=True, eq=False)
class Fitter:
    """Cuts the frames of a trace down to a pool.

    Parameters
    ----------
    wanted : a trace that holds all ancestors, see `closed`.
    residents : the pool that is filled.
    hysteresis : what is there counts ``1 + hysteresis`` times its weight.
    """

    wanted: Trace
    residents: ResidentPool
    hysteresis: float

    @cached_property
    def capacity(self) -> int:
        """Bytes of the pool beside the coarsest items."""
        return self.residents.pool_bytes - int(self.residents.cost[self.residents.coarsest].sum())

    def fit(self, frame: int) -> tuple[np.ndarray, np.ndarray]:
        """What to hold for a frame, in order of loading, and its weights."""
        chosen = slice(*self.wanted.frames[frame : frame + 2])
        items, weights = self.wanted.demands[chosen], self._weights[chosen]
        cost = np.where(self.residents.parents[items] == -1, 0, self.residents.cost[items])
        if cost.sum() > self.capacity:
            keep = self._choose(items, weights, cost)
            items, weights = items[keep], weights[keep]
        return items, weights

    @cached_property
    def _weights(self) -> np.ndarray:
        weights = self.wanted.weights
        return np.ones(self.wanted.demands.size) if weights is None else weights

    def _choose(self, items: np.ndarray, weights: np.ndarray, cost: np.ndarray) -> np.ndarray:
        """Which of the items [n] are held, bool: the most weight within the pool, parents before children."""
        position = np.full(self.residents.cost.size, -1, np.int32)
        position[items] = np.arange(items.size, dtype=np.int32)
        above = self.residents.parents[items]
        # Items become refinements themselves, so that the coarsest, which cost nothing here, are chosen too.
        parent = np.where(above >= 0, position[above], -1)
        hierarchy = _refinements(parent, cost)
        there = self.residents.resident[items]
        gain = np.zeros(items.size)
        gain[hierarchy.added_by[1:]] = weights * np.where(there, 1 + self.hysteresis, 1.0)
        problem = Problem(hierarchy, gain, 0.0, float(self.capacity), "weight", True, gain.copy)
        return Hull().solve(problem).selected[hierarchy.added_by[1:]]


def _refinements(parent: np.ndarray, cost: np.ndarray) -> Hierarchy:
    """The forest of items below one root that costs nothing: every item is added by a refinement of its own."""
    return Hierarchy.tree(np.concatenate([[-1], parent + 1]), np.concatenate([[0], cost]), mode="add")
