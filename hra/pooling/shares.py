"""Splitting a budget over the members of a pool within their limits.

Without limits one price splits the budget. Members that this leaves outside their limits are held at them, and
the others share the rest, until none is outside. Which is held first matters: holding members at their maximum leaves
more to the others, holding them at their minimum leaves less. If the excess over the maxima is at least what is missing
to the minima, no later step can bring a member at its maximum back below it, and the other way round, so every member
is held at most once (Bitran and Hax 1981, for concave returns; what indivisible steps lose is part of the gap).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from hra.model.hierarchy import Hierarchy
from hra.model.precise import ceiling, precise_total
from hra.model.problem import Problem
from hra.model.sets import total
from hra.model.solution import Solution
from hra.model.units import rescale
from hra.pooling.limits import MemberLimits
from hra.pooling.union import Unions, join_problems
from hra.solvers.duals import shortfall_of
from hra.traversals.base import Traversal
from hra.traversals.hull import Hull

# More than what a sum of costs that count as decimals and one of doubles can differ by.
_SPARE = 1 - 2.0**-30


@dataclass(eq=False)
class Shares:
    """A split in the making.

    Attributes
    ----------
    limits : with what each member can use, see `MemberLimits.within`.
    mixed : whether members count costs as decimals where the pool counts doubles, so that sums may differ by rounding.
    solutions : one per member.
    free : bool [M], members that share one price; the others are held at a limit.
    reserved : float64 [M], what the others cannot have: the cost, or the minimum if that is more.
    price : of the free members together, None if all are held.
    unlimited_bound : no choice gains more, whatever the limits; inf if the traversal does not say.
    """

    problems: Sequence[Problem]
    traversal: Traversal
    limits: MemberLimits
    budget: float
    mixed: bool = False
    solutions: list[Solution] = field(init=False)
    free: np.ndarray = field(init=False)
    reserved: np.ndarray = field(init=False)
    price: float | None = field(init=False, default=None)
    unlimited_bound: float = field(init=False, default=np.inf)

    def __post_init__(self) -> None:
        nothing = [Solution(np.zeros(len(problem.hierarchy), np.bool_)) for problem in self.problems]
        self.solutions, self.free = nothing, np.ones(len(nothing), np.bool_)
        self.reserved = self.limits.low.copy()

    def settle(self, unions: Unions) -> Solution | None:
        """Hold members at their limits until all are within; the joint solution if none had to be held."""
        joint = None
        # Ends: every turn but the last holds at least one more member, and none is let go.
        while self.free.any():
            problem, joint = self._share_rest(unions)
            if self.free.all():
                gained = precise_total(problem.gain, joint.selected)
                self.unlimited_bound = ceiling((*gained, shortfall_of(problem, joint)))
            if not self._hold_outside():
                self.price = price_of(problem, joint) if not self.free.all() else None
                break
        if self.free.all():
            return joint
        self._top_up()
        return None

    def _share_rest(self, unions: Unions) -> tuple[Problem, Solution]:
        """Solve all free members at one price within what the others leave."""
        members = np.flatnonzero(self.free).tolist()
        problems = [self.problems[i] for i in members]
        whole, places = unions.of([problem.hierarchy for problem in problems])
        # Where costs have no common unit, the rest may round to less than the base.
        rest = whole.units.less(self.budget, self.reserved[~self.free].tolist())
        rest = max(rest if self.free.all() else self._below(rest), whole.base_cost)
        problem = join_problems(whole, problems, places, rest)
        solution = self.traversal.solve(problem)
        for i, place in zip(members, places, strict=True):
            self._give(i, part_of(solution, place, whole, self.problems[i].hierarchy))
        return problem, solution

    def _hold_outside(self) -> bool:
        """Hold the free members on that side of their limits that is violated more; False if none is outside."""
        cost = np.array([spend_at(p, s) for p, s in zip(self.problems, self.solutions, strict=True)])
        excess = np.where(self.free, np.maximum(cost - self.limits.high, 0.0), 0.0)
        missing = np.where(self.free, np.maximum(self.limits.low - cost, 0.0), 0.0)
        above = excess.sum() >= missing.sum()
        outside, limit = (excess > 0, self.limits.high) if above else (missing > 0, self.limits.low)
        for i in np.flatnonzero(outside).tolist():
            budget = self._below(min(float(limit[i]), self._left_for(i)))
            self.free[i] = False
            self._give(i, self.traversal.solve(replace(self.problems[i], budget=max(budget, self._base(i)))))
        return bool(outside.any())

    def _left_for(self, i: int) -> float:
        """What the others leave to a member: those that are held what they have, the free ones what they begin with.

        Less than its limit only where members shrink: what the others may become cheaper by is not resident yet.
        """
        begin = [max(self._base(j), float(self.limits.low[j])) for j in range(len(self.problems))]
        others = np.delete(np.where(self.free, begin, self.reserved), i)
        return self.problems[i].hierarchy.units.less(self.budget, others.tolist())

    def _base(self, i: int) -> float:
        return self.problems[i].hierarchy.base_cost

    def _top_up(self) -> None:
        """Let held members spend what no other could, those that would pay most for it first."""
        held = np.flatnonzero(~self.free).tolist()
        for i in sorted(held, key=self._pays):
            problem, others = self.problems[i], np.delete(self.reserved, i).tolist()
            room = min(float(self.limits.high[i]), problem.hierarchy.units.less(self.budget, others))
            room = self._below(room)
            if room <= self.reserved[i]:
                continue
            more = self.traversal.solve(replace(problem, budget=room))
            if total(problem.gain, more.selected) > total(problem.gain, self.solutions[i].selected):
                self._give(i, more)

    def _below(self, budget: float) -> float:
        """The budget, less what rounding may add to the costs of all members."""
        return budget * _SPARE if self.mixed else budget

    def _pays(self, i: int) -> float:
        """What a member would pay for a cost unit, negative."""
        size = self.problems[i].hierarchy.units.size
        return -rescale(self.solutions[i].price or 0.0, size, Fraction(1))

    def _give(self, member: int, solution: Solution) -> None:
        self.solutions[member] = solution
        self.reserved[member] = max(self.limits.low[member], spend_at(self.problems[member], solution))


def part_of(solution: Solution, place: np.ndarray, whole: Hierarchy, member: Hierarchy) -> Solution:
    """One member's part [R_i] of a solution over a union: at the price that all share, without a bound of its own."""
    price = solution.price
    if price is not None:
        price = rescale(price, whole.units.size, member.units.size)
    return Solution(solution.selected[place], price, solution.tau)


def spend_at(problem: Problem, solution: Solution) -> float:
    """Cost of a solution with the base."""
    return problem.hierarchy.cost_of(solution.selected)


def price_of(problem: Problem, solution: Solution) -> float:
    """Lambda of a solution, gain per cost unit."""
    price = Hull(finish="none").solve(problem).price if solution.price is None else solution.price
    return rescale(price or 0.0, problem.hierarchy.units.size, Fraction(1))
