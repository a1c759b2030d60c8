"""In turn: several rules of picking share out the budget."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.errors import HierarchyError, HraError
from hra.model.arrays import is_number
from hra.model.problem import Problem
from hra.model.solution import Solution
from hra.solvers.apportionment import largest_remainder
from hra.solvers.picking.picker import Picker
from hra.traversals.base import Traversal


@dataclass(frozen=True)
class InTurn(Traversal):
    """Each rule takes its share of the budget from what the rules before it left; every count is met to the unit.

    For flat hierarchies of equal costs. Diversity is not a sum of gains: give it a metric that is not additive, and no
    certificate is claimed.

    Parameters
    ----------
    rules : pairs (share, rule of `hra.solvers.picking`); the budget is dealt out by largest remainders.

    Examples
    --------
    >>> import hra
    >>> from hra.solvers.picking.farthest import Farthest
    >>> from hra.solvers.picking.picker import Top
    >>> from hra.traversals.in_turn import InTurn
    >>> arrows = hra.Hierarchy.flat([1] * 4, attributes={"features": [[1.0, 0], [1, 0.1], [1, 0.2], [0, 1]]})
    >>> traversal = InTurn(((1, Top()), (1, Farthest())))
    >>> hra.solve(arrows, 2, gains=[1.0, 4.0, 3.0, 2.0], traversal=traversal).cut.tolist()
    [1, 3]
    """

    rules: tuple[tuple[float, Picker], ...]

    def __post_init__(self) -> None:
        pairs = isinstance(self.rules, (tuple, list)) and bool(self.rules)
        pairs = pairs and all(
            isinstance(pair, (tuple, list)) and len(pair) == 2 and is_number(pair[0]) and isinstance(pair[1], Picker)
            for pair in self.rules
        )
        if not pairs:
            fix = "write InTurn(((2, Top()), (1, Farthest())))"
            raise HraError(f"rules must be pairs of a share and a rule, got {self.rules!r}", where="InTurn", fix=fix)

    def select(self, problem: Problem) -> Solution:
        """What the rules pick.

        Raises
        ------
        HierarchyError : the hierarchy is not flat, or costs differ.
        MetricError : a rule lacks an attribute.
        """
        taken = np.zeros(len(problem.hierarchy), np.bool_)
        total = _affordable(problem)
        shares = np.array([share for share, _ in self.rules], np.float64)
        counts = largest_remainder(shares, total, np.full(len(shares), total), minimum=0)
        for (_, rule), count in zip(self.rules, counts, strict=True):
            taken[rule.pick(problem, taken, int(count))] = True
        return Solution(taken)


def _affordable(problem: Problem) -> int:
    """How many refinements the capacity pays, at most all."""
    cost = problem.hierarchy.unit_cost
    if not cost.size:
        return 0
    if len(problem.hierarchy.edges) or np.any(cost != cost[0]) or not cost[0] > 0 or problem.pinned is not None:
        what = "InTurn needs independent nodes of one cost above 0, none of them pinned"
        fix = "use Hierarchy.flat with equal costs, or another traversal"
        raise HierarchyError(what, where=repr(problem.hierarchy), fix=fix)
    return int(min(problem.capacity // cost[0], cost.size))
