"""The result of an allocation on a lazy hierarchy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.caching import cached_property
from hra.solvers.lazy.visited_tree import VisitedTree


@dataclass(frozen=True, eq=False, repr=False)
class LazyAllocation:
    """A cut within the budget, and the part of the hierarchy that was made to find it.

    Attributes
    ----------
    visited : all nodes that were made; ``visited.hierarchy`` is an ordinary `Hierarchy`, on which every other traversal
        runs with ``visited.metric``.
    active : bool [N], nodes of the cut, among those made.
    budget, cost : in the hierarchy's cost unit; ``cost <= budget`` always.
    gain, base_error : in the metric's unit.
    finished : whether nothing is left to take or to look into, or ``look_ahead`` is spent; False if another limit ended
        the search.
    seconds : spent in the search so far.
    earlier_bound : the upper bound of an earlier answer of the same search, inf if there is none.
    """

    visited: VisitedTree
    active: np.ndarray
    budget: float
    cost: float
    gain: float
    base_error: float
    finished: bool
    seconds: float
    earlier_bound: float = math.inf

    @cached_property
    def cut(self) -> list[Any]:
        """Keys of the active nodes, in the order of their making."""
        return [self.visited.nodes[v] for v in np.flatnonzero(self.active)]

    @property
    def made(self) -> int:
        """Nodes that were made."""
        return len(self.visited.nodes)

    @property
    def expansions(self) -> int:
        """Nodes whose children were asked for."""
        return int(self.visited.expanded.sum())

    @property
    def mean_depth(self) -> float:
        """Mean depth of the cut's nodes; roots have depth 0."""
        return float(self.visited.depth[self.active].mean()) if self.active.any() else 0.0

    @property
    def max_depth(self) -> int:
        """Largest depth of the cut's nodes."""
        return int(self.visited.depth[self.active].max(initial=0))

    @property
    def residual(self) -> float:
        """Error that remains."""
        return max(self.base_error - self.gain, 0.0)

    @cached_property
    def upper_bound(self) -> float:
        """No cut within the budget gains more, however deep; computed on first use."""
        return max(min(self.visited.upper_bound(self.budget), self.earlier_bound), self.gain)

    @property
    def gap(self) -> float:
        """(upper bound - gain) / upper bound; 0 / 0 = 0."""
        return (self.upper_bound - self.gain) / self.upper_bound if self.upper_bound > self.gain else 0.0

    def __repr__(self) -> str:
        unit, error_unit = self.visited.cost_unit, self.visited.metric.unit
        depth = f"depth {self.mean_depth:.1f} on average and {self.max_depth} at most"
        spent = f"{self.cost:,.12g} of {self.budget:,.12g} {unit}, residual {self.residual:.3g} {error_unit}, {depth}"
        if not self.visited.metric.additive:
            return f"{spent}, {self.made:,} nodes made, no bound: the metric's gains do not add up"
        return f"{spent}, {self.made:,} nodes made, within {100 * self.gap:.2g} % of the best possible gain"
