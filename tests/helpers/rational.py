"""The best choice and its limits in rational arithmetic, by branch and bound over all choices: slow, but exact."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, lcm

import numpy as np

from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem

ZERO = Fraction(0)
Read = Callable[[float], Fraction]
Accept = Callable[[Sequence[bool]], bool]


def reader(node_cost: np.ndarray) -> Read:
    """What costs and budgets count as: decimals where all costs share a unit of at most 15 digits, else doubles."""
    printed = [Fraction(repr(cost)) for cost in node_cost.tolist()]
    common = lcm(*(cost.denominator for cost in printed))
    digits = [d for d in range(16) if 10**d % common == 0]
    if digits and (digits[0] == 0 or sum(printed) * 10 ** digits[0] <= 2**51):
        return lambda number: Fraction(repr(float(number)))
    return Fraction


@dataclass(frozen=True, eq=False)
class Exactly:
    """A problem in fractions: costs and gains of refinements, what the base and what is pinned cost together."""

    cost: list[Fraction]
    gain: list[Fraction]
    before: list[list[int]]
    pinned: list[bool]
    base: Fraction
    budget: Fraction | None
    least_error: Fraction

    @classmethod
    def of(cls, problem: Problem, read: Read | None = None) -> Exactly:
        """``problem`` with numbers that count as what ``read`` makes of them."""
        hierarchy, size = problem.hierarchy, len(problem.hierarchy)
        read = read or reader(hierarchy.node_cost)
        cost, base = refinement_costs(hierarchy, read)
        before: list[list[int]] = [[] for _ in range(size)]
        for a, b in hierarchy.edges.tolist():
            before[b].append(a)
        pinned = [False] * size if problem.pinned is None else problem.pinned.tolist()
        gain = [Fraction(0 if pin else value) for value, pin in zip(problem.gain.tolist(), pinned, strict=True)]
        base += sum((c for c, pin in zip(cost, pinned, strict=True) if pin), ZERO)
        cost = [ZERO if pin else c for c, pin in zip(cost, pinned, strict=True)]
        budget = None if problem.budget == inf else read(problem.budget)
        return cls(cost, gain, before, pinned, base, budget, Fraction(problem.least_error))

    def spent(self, selected: np.ndarray) -> Fraction:
        """The cost of a choice, base included."""
        return self.base + _sum(self.cost, selected)

    def gained(self, selected: np.ndarray) -> Fraction:
        """The gain of a choice."""
        return _sum(self.gain, selected)

    @property
    def everything(self) -> Fraction:
        """The gain of full detail."""
        return sum(self.gain, ZERO)

    def affordable(self, spent: Fraction) -> bool:
        """Whether the budget covers ``spent``."""
        return self.budget is None or spent <= self.budget

    def best(self, accept: Accept | None = None) -> Fraction | None:
        """The most that any choice within the budget gains, among those that ``accept`` takes; None without any."""
        size, scale = len(self.cost), lcm(*(g.denominator for g in self.gain), 1)
        gain = [int(g * scale) for g in self.gain]
        parts = lcm(*(c.denominator for c in self.cost), 1)
        cost = [int(c * parts) for c in self.cost]
        room = sum(max(c, 0) for c in cost)
        if self.budget is not None:
            room = min(room, (self.budget - self.base) * parts // 1)
        most, least = [0] * (size + 1), [0] * (size + 1)
        for r in range(size - 1, -1, -1):
            most[r], least[r] = most[r + 1] + gain[r], least[r + 1] + min(cost[r], 0)
        best, taken, stack = -1, [False] * (size + 1), [(0, False, 0, 0)]
        while stack:
            r, taken[r - 1], gained, left = stack.pop()
            if gained + most[r] <= best or left + least[r] > room:
                continue
            if r == size:
                best = gained if accept is None or accept(taken[:size]) else best
                continue
            if not self.pinned[r]:
                stack.append((r + 1, False, gained, left))
            if all(taken[p] for p in self.before[r]):
                stack.append((r + 1, True, gained + gain[r], left + cost[r]))
        return None if best < 0 else Fraction(best, scale)


def closed_sets(exactly: Exactly) -> Iterator[np.ndarray]:
    """Every down-closed set [R], whatever it costs."""
    size = len(exactly.cost)
    for number in range(2**size):
        taken = [bool(number >> r & 1) for r in range(size)]
        if all(not taken[r] or all(taken[p] for p in exactly.before[r]) for r in range(size)):
            yield np.array(taken, np.bool_)


def refinement_costs(hierarchy: Hierarchy, read: Read) -> tuple[list[Fraction], Fraction]:
    """What each refinement costs, and what the base costs."""
    steps = [ZERO] * (len(hierarchy) + 1)
    nodes = zip(hierarchy.node_cost.tolist(), hierarchy.added_by.tolist(), hierarchy.removed_by.tolist(), strict=True)
    for cost, added, removed in nodes:
        steps[added] += read(cost)  # -1, the last, is the base
        if removed >= 0:
            steps[removed] -= read(cost)
    return steps[:-1], steps[-1]


def _sum(values: list[Fraction], selected: np.ndarray) -> Fraction:
    return sum((value for value, taken in zip(values, selected.tolist(), strict=True) if taken), ZERO)
