"""Shared pools: several allocators under one budget, solved once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from hra.allocation import Allocation
from hra.allocator import HierarchicalResourceAllocator
from hra.budget import check_budget
from hra.errors import HraError, UnitMismatch
from hra.hierarchy import Hierarchy
from hra.problem import Problem
from hra.traversals.base import Solution, Traversal
from hra.traversals.hull import Hull
from hra.union import union


@dataclass(frozen=True, eq=False)
class PooledAllocation:
    """What each member of a pool received.

    Attributes
    ----------
    whole : the allocation over the union of all hierarchies; its gap certifies the split as well.
    members : one allocation per member, whose budget is what the pool gave to it.
    """

    whole: Allocation
    members: tuple[Allocation, ...]

    def __repr__(self) -> str:
        shares = ", ".join(f"{member.cost:,.12g}" for member in self.members)
        return f"{self.whole!r}; members: {shares}"


@dataclass(frozen=True, eq=False)
class Pool:
    """Allocators whose budgets are one. Build it with `hra.pool`."""

    members: tuple[HierarchicalResourceAllocator, ...]
    traversal: Traversal

    def allocate(self, contexts: Sequence[Any], budget: float) -> PooledAllocation:
        """Spend ``budget`` over all members, each seen from its own context.

        Raises
        ------
        HraError : not one context per member.
        UnitMismatch : members count different cost units, or measure errors in different units.
        """
        start = time.perf_counter()
        if not isinstance(contexts, (tuple, list)) or len(contexts) != len(self.members):
            given = len(contexts) if isinstance(contexts, (tuple, list)) else type(contexts).__name__
            fix = "pass a tuple with one context per member"
            raise HraError(f"{given} contexts for {len(self.members)} members", where="contexts", fix=fix)
        pairs = list(zip(self.members, contexts, strict=True))
        hierarchies = [member.hierarchy_for(context) for member, context in pairs]
        whole, refinements = union(hierarchies)
        total = check_budget(budget, whole)
        problems = [
            member.error_metric(hierarchy, context, np.inf)
            for (member, context), hierarchy in zip(pairs, hierarchies, strict=True)
        ]
        problem = _joined(whole, problems, refinements, total)
        solution = self.traversal.solve(problem)
        seconds = time.perf_counter() - start
        members = [_share(p, solution, r, c, seconds) for p, r, c in zip(problems, refinements, contexts, strict=True)]
        return PooledAllocation(Allocation(problem, solution, seconds, tuple(contexts)), tuple(members))


def pool(*members: HierarchicalResourceAllocator, traversal: Traversal | None = None) -> Pool:
    """One budget over several allocators: textures and geometry in one byte pool, tokens over a batch of images.

    Raises
    ------
    HraError : no member.
    """
    if not members:
        raise HraError("a pool needs at least one allocator", where="pool()")
    return Pool(members, traversal or Hull())


def _joined(whole: Hierarchy, problems: list[Problem], refinements: list[np.ndarray], budget: float) -> Problem:
    """The members' problems as one problem over the union."""
    units = sorted({problem.unit for problem in problems})
    if len(units) != 1:
        fix = "use metrics of one unit, or scale one of them"
        raise UnitMismatch("one pool needs one unit of error", where=", ".join(units), fix=fix)
    gain = np.empty(len(whole))
    for problem, place in zip(problems, refinements, strict=True):
        gain[place] = problem.gain

    base_error = sum(problem.base_error for problem in problems)
    additive = all(problem.additive for problem in problems)
    return Problem(whole, gain, base_error, budget, units[0], additive, partial(_joined_peak, problems, refinements))


def _joined_peak(problems: list[Problem], refinements: list[np.ndarray]) -> np.ndarray:
    peak = np.empty(sum(place.size for place in refinements))
    for problem, place in zip(problems, refinements, strict=True):
        peak[place] = problem.peak
    return peak


def _share(problem: Problem, solution: Solution, place: np.ndarray, context: Any, seconds: float) -> Allocation:
    """One member's part of a pool's solution, with what it received as its budget."""
    selected = solution.selected[place]
    spent = problem.hierarchy.base_cost + float(problem.hierarchy.cost[selected].sum())
    own = replace(problem, budget=spent)
    return Allocation(own, Solution(selected, solution.multiplier), seconds, context)
