"""Exact: the best set within the budget, and the proof that it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.errors import wrong_kind
from hra.model.arrays import whole_in
from hra.model.precise import precise_difference, up
from hra.model.problem import Problem
from hra.model.solution import Solution
from hra.solvers.dag.split_flow import closure, even_shares
from hra.solvers.duals import certify
from hra.solvers.fill import complete
from hra.solvers.search.deepening import improve
from hra.solvers.search.pareto import new_states
from hra.traversals.base import Traversal
from hra.traversals.hull import Hull

# Enough for nearly all trees up to a million refinements; a search that exhausts them takes some 50 ms.
MAX_STATES = 2**22
# Sweeps for the shares of surplus on DAGs: good shares leave the search less to decide. Those of a maximum flow are as
# good for the bound, but fewer refinements are decided by them.
_SWEEPS = 100


@dataclass(frozen=True)
class Exact(Traversal):
    """The best set of all, proven, or the hull's answer with a tighter bound where the proof would take too long.

    Starts from `Hull`, lets the relaxation decide what it can (reduced-cost fixing) and searches the rest: by dominance
    lists on forests, depth-first on DAGs. With the proof the gain never falls when the budget
    grows; without it the answer is never worse than that of `Hull`, and ``gap`` says how far off it can be.

    Parameters
    ----------
    max_states : states that one search may visit before it is given up; each takes up to 28 bytes; at most 2**31 - 1.
    spend_all : also take refinements that gain nothing while they fit, so that reachable counts are met to the unit.

    Examples
    --------
    >>> import hra
    >>> items = hra.Hierarchy.flat([3, 2, 2])
    >>> for traversal in (hra.Hull(), hra.Exact()):
    ...     print(hra.solve(items, 4, gains=[6.0, 3.5, 3.4], traversal=traversal))
    3 of 4 units, residual 6.9 error, within 23 % of the best possible gain (34 % of the residual)
    4 of 4 units, residual 6 error, the best possible
    """

    max_states: int = MAX_STATES
    spend_all: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.spend_all, (bool, np.bool_)):
            raise wrong_kind("spend_all", self.spend_all, bool, "use spend_all=True or spend_all=False")
        whole_in("max_states", self.max_states, range(1, 2**31))  # states are numbered in 32 bits

    def select(self, problem: Problem) -> Solution:
        """The best set; its shortfall is that of the search, whose proof is not part of the solution."""
        start, hierarchy = Hull(spend_all=self.spend_all).select(problem), problem.hierarchy
        selected, price = start.selected.copy(), start.price or 0.0
        if hierarchy.parent is None:
            share, states = _shares(problem, price), None
        else:
            share, states = np.ones(len(hierarchy.edges)), new_states(self.max_states)
        given = (hierarchy.predecessors, share, problem.attainable_gain, problem.cost, problem.capacity, price)
        shortfall, proven = improve(*given, self.max_states, states, selected)
        filled = complete(problem, selected, problem.ratio, spend_all=self.spend_all)
        more = precise_difference(problem.gain, filled, selected)
        shortfall = max(up(shortfall - more), 0.0) if more else shortfall
        if not proven:
            # The shares of the relaxation bound better than those that decide most refinements.
            shortfall = min(shortfall, certify(problem, filled, price, start.share).shortfall)
        return Solution(filled, price, share=start.share, shortfall=shortfall)


def _shares(problem: Problem, price: float) -> np.ndarray:
    """How to split surplus at ``price`` over predecessors [E] so that little of it is lost."""
    order, selected = problem.hierarchy.predecessors, np.empty(len(problem.hierarchy), np.bool_)
    share = even_shares(order[0])
    closure(order, problem.gain, problem.cost, price, share, _SWEEPS, selected)
    # Rounded shares must not add up to more than 1: what is passed on twice would be counted twice.
    several = np.diff(order[0]) > 1
    scale = np.where(several, 1.0 - 2.0**-50 * np.diff(order[0]), 1.0)
    return share * np.repeat(scale, np.diff(order[0]))
