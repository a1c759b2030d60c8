"""The least and the most that each member of a pool may receive."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.errors import BudgetTooSmall, HraError, InvalidBudget
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem, exact_number
from hra.model.sets import take_with_predecessors
from hra.model.units import exactly


@dataclass(frozen=True, eq=False)
class MemberLimits:
    """Limits on the cost of each member with its base, in the pool's cost unit.

    Attributes
    ----------
    low : float64 [M], reserved for the member: no other member gets it, as far as this one can use it.
    high : float64 [M], the member never costs more.
    """

    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, limits: Sequence[tuple[Any, Any]], members: int) -> MemberLimits:
        """Limits from one (low, high) pair per member; None for no limit.

        Raises
        ------
        HraError : not one pair per member.
        InvalidBudget : a limit is not a number >= 0, or low > high.
        """
        if not isinstance(limits, (tuple, list)) or len(limits) != members:
            given = len(limits) if isinstance(limits, (tuple, list)) else type(limits).__name__
            fix = "pass a list with one pair (low, high) per member, None for no limit"
            raise HraError(f"{given} limits for {members} members", where="limits", fix=fix)
        pairs = np.array([_pair(pair, f"limits[{i}]") for i, pair in enumerate(limits)])
        return cls(pairs[:, 0], pairs[:, 1])

    def check(self, hierarchies: Sequence[Hierarchy], budget: float) -> None:
        """Whether ``budget`` can serve all members within their limits.

        Raises
        ------
        BudgetTooSmall : a member's high does not cover its coarsest level, or ``budget`` not what all must receive.
        """
        unit = hierarchies[0].cost_unit
        for i, hierarchy in enumerate(hierarchies):
            if self.high[i] < hierarchy.base_cost:
                least = exact_number(hierarchy.base_cost)
                what = f"member {i} may cost {exact_number(self.high[i])} {unit}, its coarsest level costs {least}"
                raise BudgetTooSmall(what, where=f"limits[{i}]", fix=f"allow at least {least} {unit}")
        least = [max(h.base_cost, min(low, h.largest_cost)) for h, low in zip(hierarchies, self.low, strict=True)]
        if budget < np.inf and sum(map(exactly, least)) > exactly(budget):
            largest = int(np.argmax(least))
            needed = exact_number(float(sum(map(exactly, least))))
            what = f"the members must receive {needed} {unit} together, the pool has {exact_number(budget)}"
            where = f"limits[{largest}]: member {largest} takes the most, {exact_number(least[largest])} {unit}"
            raise BudgetTooSmall(what, where=where, fix=f"lower the minima, or use at least {needed} {unit}")

    def within(self, problems: Sequence[Problem]) -> MemberLimits:
        """The limits with what each member can neither use nor go below taken into account."""
        usable = [_usable(problem, low) for problem, low in zip(problems, self.low, strict=True)]
        most = np.array([problem.hierarchy.largest_cost for problem in problems])
        return MemberLimits(np.array(usable), np.minimum(self.high, most))


def _usable(problem: Problem, low: float) -> float:
    """``low``, but at least the base and at most what the member costs with all refinements that help to gain.

    Where refinements cost less than nothing, members may fall below their base: then it is not reserved for them.
    """
    base = problem.hierarchy.base_cost
    if low <= base and not problem.hierarchy.shrinks:
        return base
    useful = problem.gain > 0
    take_with_predecessors(*problem.hierarchy.predecessors, useful)
    return min(float(low), problem.hierarchy.cost_of(useful))


def _pair(pair: Any, where: str) -> tuple[float, float]:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise HraError(f"limits must be pairs (low, high), got {pair!r}", where=where)
    low, high = _limit(pair[0], 0.0, where), _limit(pair[1], math.inf, where)
    if low > high:
        raise InvalidBudget(f"the minimum {pair[0]} exceeds the maximum {pair[1]}", where=where, fix="swap them")
    return low, high


def _limit(value: Any, default: float, where: str) -> float:
    if value is None:
        return default
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not value >= 0:
        raise InvalidBudget(f"a limit must be a number >= 0 or None, got {value!r}", where=where)
    return float(value)
