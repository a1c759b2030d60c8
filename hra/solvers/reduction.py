"""Turns problems whose costs are not whole numbers >= 0 into problems whose costs are.

Two things stand between a hierarchy and whole costs >= 0. A refinement may cost less than nothing, because its fine
nodes take fewer bytes than what they replace: every set that has its predecessors takes it as well, since that loses no
gain and makes room. So it is joined with its predecessor, or with the base. On graphs, one with several predecessors
stays as it is. And costs may have no common unit. Rounded down, they admit every set that the budget admits: bounds are
those of this problem. A set chosen from it that exceeds the budget by the rounding is replaced by one chosen from the
problem with costs rounded up, which admits only sets that the budget admits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np

from hra.caching import cached_property
from hra.compiling import njit
from hra.model.hierarchy import Hierarchy
from hra.model.precise import precise_difference, up
from hra.model.problem import Problem
from hra.model.sets import total
from hra.model.solution import Solution
from hra.model.topology import Topology
from hra.model.units import Units, rescale

# Chooses a set for a problem: `hra.traversals.base.Traversal.select`.
Select = Callable[[Problem], Solution]


def select_reduced(select: Select, problem: Problem, *, any_cost: bool) -> Solution:
    """What ``select`` chooses for ``problem``, whatever its costs are; bounds are those of ``problem``.

    ``any_cost`` says that it serves refinements of negative cost by itself.
    """
    if not any_cost:
        select = partial(_joined_solution, select)
    if not problem.hierarchy.units.exact:  # else what fits by rounding alone would be chosen, and missed
        problem = replace(problem, gain=problem.attainable_gain)
    solution = select(problem)
    if problem.hierarchy.units.exact:
        return solution
    strict = replace(problem, strict=True)
    if total(strict.cost, solution.selected) <= strict.capacity or _fits(problem, solution.selected):
        return solution
    if strict.capacity < 0 and not solution.restricted:  # nothing but the base is sure to fit
        accepted = None if solution.tau is None else float(problem.peak.max(initial=0.0))
        return _missing(problem, solution, Solution(np.zeros_like(solution.selected), tau=accepted))
    return _missing(problem, solution, select(strict))


def _missing(problem: Problem, solution: Solution, other: Solution) -> Solution:
    """``solution`` with the set and tau of an ``other``, which lacks what the first one gains more."""
    found = replace(solution, selected=other.selected, tau=other.tau)
    if solution.shortfall is None:
        return found
    more = precise_difference(problem.gain, solution.selected, other.selected)
    return replace(found, shortfall=max(up(up(more) + solution.shortfall), 0.0))


def _fits(problem: Problem, selected: np.ndarray) -> bool:
    taken = selected if problem.pinned is None else selected | problem.pinned
    return problem.hierarchy.cost_of(taken) <= problem.budget


def _joined_solution(select: Select, problem: Problem) -> Solution:
    if not problem.hierarchy.shrinks:
        return select(problem)
    joined = join(problem.hierarchy)
    whole = joined.problem(problem)
    solution = select(whole)
    if whole.pinned is not None:
        # A group of which a part is pinned was paid as a whole: what makes room in it has to be taken as well.
        solution = replace(solution, selected=solution.selected | whole.pinned)
    return joined.lift(solution)


@dataclass(frozen=True, eq=False)
class Joined:
    """A hierarchy in which refinements of negative cost are one with what they follow.

    Attributes
    ----------
    original, hierarchy : before and after.
    group : int32 [R], the refinement that each original one became a part of; -1 for the base.
    """

    original: Hierarchy
    hierarchy: Hierarchy
    group: np.ndarray

    def problem(self, problem: Problem) -> Problem:
        """``problem`` over the joined hierarchy."""
        inside, size = self.group >= 0, len(self.hierarchy)
        gain = np.bincount(self.group[inside], problem.gain[inside], size).astype(np.float64)
        pinned, previous = self._any(problem.pinned), self._any(problem.previous)
        price = None if problem.price is None else rescale(problem.price, self._size, self.hierarchy.units.size)
        return replace(
            problem,
            hierarchy=self.hierarchy,
            gain=gain,
            refinement_peak=lambda: self._largest(problem.peak),
            pinned=pinned,
            previous=previous,
            price=price,
        )

    def lift(self, solution: Solution) -> Solution:
        """``solution`` over the original hierarchy."""
        selected = np.append(solution.selected, True)[self.group]
        price = None if solution.price is None else rescale(solution.price, self.hierarchy.units.size, self._size)
        share = None if solution.share is None else self._shares(solution.share)
        return replace(solution, selected=selected, price=price, share=share)

    @property
    def _size(self) -> Fraction:
        return self.original.units.size

    def _any(self, marked: np.ndarray | None) -> np.ndarray | None:
        if marked is None:
            return None
        result = np.zeros(len(self.hierarchy), np.bool_)
        np.logical_or.at(result, self.group[self.group >= 0], marked[self.group >= 0])
        return result

    def _largest(self, peak: np.ndarray) -> np.ndarray:
        result = np.zeros(len(self.hierarchy))
        np.maximum.at(result, self.group[self.group >= 0], peak[self.group >= 0])
        return result

    def _shares(self, share: np.ndarray) -> np.ndarray:
        """Shares [E] of the original edges from those of the joined ones; all is passed on within a group."""
        number, count = self._edges
        result = np.where(number >= 0, (share / np.maximum(count, 1))[number] if share.size else 0.0, 0.0)
        before, after = self.group[self.original.edges].T
        result[(before == after) & (after >= 0)] = 1.0
        # What follows nothing but the base passes on to the base, which is always there.
        successor = self.original.edges[:, 1]
        result[np.bincount(successor, result, len(self.original))[successor] == 0] = 1.0
        return result

    @cached_property
    def _edges(self) -> tuple[np.ndarray, np.ndarray]:
        """The joined edge of each original edge, int64 [E], -1 for none; and how often each stands, int64."""
        size = len(self.hierarchy)
        keys = (self.hierarchy.edges.astype(np.int64) @ (1, size)) if size else np.zeros(0, np.int64)
        before, after = self.group[self.original.edges].astype(np.int64).T
        between = (before >= 0) & (after >= 0) & (before != after)
        order = np.argsort(keys)
        number = np.full(before.size, -1, np.int64)
        number[between] = order[np.searchsorted(keys[order], (before + after * size)[between])]
        return number, np.bincount(number[between], minlength=keys.size)


@lru_cache(maxsize=8)
def join(hierarchy: Hierarchy) -> Joined:
    """``hierarchy`` with its refinements of negative cost joined with what they follow; kept for the next call."""
    leader = np.arange(len(hierarchy) + 1, dtype=np.int32)
    leader[-1] = -1
    if hierarchy.units.exact:
        _join(*hierarchy.predecessors, hierarchy.unit_cost.copy(), leader)
    else:  # whether a group costs or saves anything must not depend on rounding
        plain = getattr(_join, "py_func", _join)  # NUMBA_DISABLE_JIT leaves functions as they are
        plain(*hierarchy.predecessors, _exact_costs(hierarchy), leader)
    leads = leader[:-1] == np.arange(len(hierarchy))
    number = np.append(np.where(leads, np.cumsum(leads) - 1, -1), -1).astype(np.int32)
    group = number[leader]  # one more entry at the end: -1 stays -1
    added_by, removed_by = group[hierarchy.added_by], group[hierarchy.removed_by]
    # What comes and goes within one step, or goes with the base, is never there.
    gone = (hierarchy.removed_by >= 0) & (added_by == removed_by)
    cost = np.where(gone, 0.0, hierarchy.node_cost)
    removed_by[gone] = -1
    edges = group[hierarchy.edges]
    edges = np.unique(edges[(edges[:, 0] >= 0) & (edges[:, 0] != edges[:, 1])], axis=0)
    shape = Topology(int(leads.sum()), added_by, removed_by, edges)
    joined = Hierarchy.from_topology(cost, shape, attributes=hierarchy.node, cost_unit=hierarchy.cost_unit)
    # Without the costs that are gone, the others might count as decimals, and budgets with them: other sets would fit.
    vars(joined)["units"] = Units.of(cost, decimal=hierarchy.units.decimal)
    renumbered = np.full(shape.size + 1, -1, np.int32)
    for old, new in ((added_by, joined.added_by), (removed_by, joined.removed_by)):
        renumbered[old[old >= 0]] = new[old >= 0]
    return Joined(hierarchy, joined, renumbered[group[:-1]])


def _exact_costs(hierarchy: Hierarchy) -> np.ndarray:
    """What each refinement adds less what it removes, fractions [R]."""
    cost = np.full(len(hierarchy) + 1, Fraction(0), object)
    for value, added, removed in zip(hierarchy.node_cost, hierarchy.added_by, hierarchy.removed_by, strict=True):
        exact = hierarchy.units.exactly(value)
        cost[added] += exact
        if removed >= 0:
            cost[removed] -= exact
    return cost[:-1]


@njit(cache=True)
def _join(offsets, predecessors, cost, leader):
    """Fill ``leader`` [R + 1]: the refinement that each is joined with, itself or -1 for the base; the last stays -1.

    ``cost`` [R] becomes that of whole groups.
    """
    changed = True
    while changed:
        changed = False
        for r in range(cost.size - 1, -1, -1):
            if leader[r] != r or not cost[r] < 0.0:
                continue
            above, several = -1, False
            for k in range(offsets[r], offsets[r + 1]):
                p = predecessors[k]
                while p >= 0 and leader[p] != p:
                    p = leader[p]
                # Groups are named by their coarsest member, so that following leaders always leads to smaller numbers.
                several = several or (p >= 0 and above >= 0 and p != above)
                above = max(above, p)
            if not several:
                leader[r] = above
                if above >= 0:
                    cost[above] += cost[r]
                # A group that still costs less than nothing joins what comes before it in turn.
                changed = True
    for r in range(cost.size):
        p = leader[r]
        while p >= 0 and leader[p] != p:
            p = leader[p]
        leader[r] = p
