"""One price for members that are never in memory together: fixed on a sample, then spent one after the other.

At one price for all, what each member spends is the best for the sum of their errors among all splits that cost no more
(Everett 1963). How much the members spend together is known of the sample alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hra.errors import HierarchyError, InvalidBudget
from hra.model.problem import Problem
from hra.model.units import rescale
from hra.solvers.forest.pava import hull_slopes
from hra.solvers.selection import select_threshold


@dataclass(frozen=True, eq=False)
class Demand:
    """What one member spends at every price; a few bytes for each of its refinements.

    Attributes
    ----------
    slope : float64 [R], gain per cost unit of each refinement's step of the hull.
    cost : float64 [R], in cost units.
    base : cost of its coarsest level, which is spent at any price.

    Examples
    --------
    >>> import hra
    >>> from hra.pooling.stream_price import Demand
    >>> items = hra.Hierarchy.flat([3, 2, 2])
    >>> demand = Demand.of(hra.solve(items, budget=7, gains=[6.0, 3.0, 2.0]).problem)
    >>> demand.at(1.2), demand.at(2.5)
    (5.0, 0.0)
    """

    slope: np.ndarray
    cost: np.ndarray
    base: float

    @classmethod
    def of(cls, problem: Problem) -> Demand:
        """The demand of a problem, whatever its budget.

        Raises
        ------
        HierarchyError : its hierarchy is not a forest, or has refinements that cost less than nothing.
        MetricError : gains that no bound holds for.
        """
        hierarchy = problem.hierarchy
        if hierarchy.parent is None or hierarchy.shrinks:
            what = "prices are for forests whose refinements cost something"
            raise HierarchyError(what, where=repr(hierarchy), fix="use hra.pool, or members of another kind")
        problem.check()
        slope = hull_slopes(hierarchy.first_child, problem.gain, problem.slope_cost)
        size = hierarchy.units.size
        prices = np.array([rescale(each, size, Fraction(1)) for each in slope]) if size != 1 else slope
        return cls(prices, problem.cost * float(size), hierarchy.base_cost)

    def at(self, price: float) -> float:
        """What is spent at ``price``, base included: all steps that gain more per unit."""
        return self.base + float(self.cost[self.slope > price].sum())


def common_price(demands: Sequence[Demand], budget: float) -> float:
    """The lowest price at which ``demands`` together spend at most ``budget``, 0 where all of them fit.

    Raises
    ------
    InvalidBudget : no members, or less than their bases cost.

    Examples
    --------
    >>> import hra
    >>> from hra.pooling.stream_price import Demand, common_price
    >>> gains = ([4.0, 1.0], [9.0, 8.0])
    >>> members = [hra.solve(hra.Hierarchy.flat([1, 1]), budget=2, gains=each).problem for each in gains]
    >>> demands = [Demand.of(member) for member in members]
    >>> price = common_price(demands, budget=3)
    >>> price, [demand.at(price) for demand in demands]
    (1.0, [1.0, 2.0])
    """
    base = sum(demand.base for demand in demands)
    if not demands or not budget >= base:
        what = f"a budget of {budget:,.12g} for {len(demands)} members whose bases cost {base:,.12g}"
        raise InvalidBudget(what, where="budget", fix="raise the budget, or sample members that can be read")
    slope, cost = (np.concatenate([getattr(each, name) for each in demands]) for name in ("slope", "cost"))
    return max(float(select_threshold(slope, cost, budget - base)), 0.0)
