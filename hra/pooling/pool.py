"""Shared pools: several allocators under one budget, solved once.

Where members have limits, the upper bound is this. A choice takes the set S_i, of gain g_i and cost c_i beyond the
base, for each member i. Limits allow it if c_i <= h_i and sum of max(c_i, l_i) <= C: what is reserved for a member is
lost to the others. For every price >= 0 of the pool and every price p_i >= 0 of a member,

    -price max(c_i, l_i) <= -p_i c_i - (price - p_i) l_i     if p_i <= price  (a maximum is at least any mean)
    -price max(c_i, l_i) <= -p_i c_i + (p_i - price) h_i     if p_i >= price  (because c_i <= h_i)

so that, with R_i(p) >= max over all S_i of g_i - p c_i (the member's own relaxation),

    sum g_i <= price C + sum of R_i(p_i) - max(price - p_i, 0) l_i + max(p_i - price, 0) h_i.

Any prices give a valid bound. Members that no limit holds have p_i = price; with the prices at which the others meet
their limits, the bound is the least of this form wherever the members' relaxations are exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from hra.allocating.allocation import Allocation
from hra.allocating.allocator import HierarchicalResourceAllocator, hierarchy_of
from hra.allocating.modifiers import in_sequence
from hra.caching import cached_property
from hra.compiling import Stopwatch
from hra.errors import HraError, wrong_kind
from hra.model.problem import Problem, check_budget, checked_problem
from hra.model.solution import Solution
from hra.model.units import rescale
from hra.pooling.bids import Bid, bid_of
from hra.pooling.limits import MemberLimits
from hra.pooling.shares import Shares, part_of, price_of, spend_at
from hra.pooling.union import Unions, join_problems
from hra.solvers.dag.split_flow import closure, even_shares
from hra.solvers.duals import distance
from hra.traversals.base import Traversal
from hra.traversals.coherent import Coherent
from hra.traversals.hull import Hull

# On DAGs: sweeps at each price, as many as the relaxation makes.
_SWEEPS = 60


def dual_bound(
    problems: Sequence[Problem],
    low: Sequence[Fraction],
    high: Sequence[Fraction],
    capacity: Fraction,
    own: np.ndarray,
    price: float,
) -> float:
    """The most that any choice within the limits can gain.

    Parameters
    ----------
    low, high : limits on what each member costs beyond its base, [M], in cost units.
    capacity : what all may cost beyond their bases, in cost units.
    own : float64 [M], a price per member and cost unit, >= 0; ``price`` for members that no limit holds.
    price : of the pool, >= 0.

    Returns
    -------
    The bound, never rounded down: prices and limits count as they are, and their products are exact.
    """
    shared, most = Fraction(price), Fraction(price) * capacity
    for i, problem in enumerate(problems):
        parts = [_part(problem, at, shared, low[i], high[i]) for at in {price, float(own[i])}]
        most += min(parts)
    nearest = float(most)
    return nearest if Fraction(nearest) >= most else math.nextafter(nearest, math.inf)


def _part(problem: Problem, price: float, shared: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """What a member adds to the bound at a price of its own."""
    size = problem.hierarchy.units.size
    # The relaxation is computed at a double: this one counts, exactly, in place of what was asked for. Any price is
    # valid.
    per_unit = rescale(price, Fraction(1), size)
    own, value = Fraction(per_unit) / size, relaxed_value(problem, per_unit)
    if value == math.inf:  # so does 0, where what costs are worth is too large for a double
        return _part(problem, 0.0, shared, low, high)
    return Fraction(value) - max(shared - own, 0) * low + max(own - shared, 0) * high


def clearing_price(own: np.ndarray, low: np.ndarray, high: np.ndarray, capacity: float) -> float:
    """The price of a pool all of whose members are held: the least at which they ask for no more than there is.

    Members whose own price [M] is above it ask for their ``high``, the others for their ``low``.
    """
    if high.sum() <= capacity:
        return 0.0
    order = np.argsort(own)
    # What all ask for once the price has passed the first, the first two ... members' own prices.
    asked = high.sum() - np.cumsum((high - low)[order])
    enough = np.flatnonzero(asked <= capacity)
    return float(own[order[enough[0] if enough.size else -1]])


def relaxed_value(problem: Problem, price: float) -> float:
    """An upper bound on gain - price * cost over all down-closed sets, price and costs per unit; never rounded down."""
    offsets, predecessors = problem.hierarchy.predecessors
    nothing, share = np.zeros(len(problem.hierarchy), np.bool_), even_shares(offsets)
    if problem.hierarchy.parent is None:
        closure((offsets, predecessors), problem.gain, problem.cost, price, share, _SWEEPS, nothing.copy())
    order = (offsets, predecessors, problem.gain, problem.cost)
    return float(distance(*order, price, share, nothing, 0.0, np.empty(predecessors.size)))


@dataclass(frozen=True, eq=False)
class PooledAllocation:
    """What each member of a pool received.

    Attributes
    ----------
    whole : the allocation over the union of all hierarchies; its gap certifies the split as well.
    members : one allocation per member, whose budget is what the pool gave to it. The price of a member that a limit
        holds is its own.
    """

    whole: Allocation
    members: tuple[Allocation, ...]

    @cached_property
    def price(self) -> float:
        """Lambda: the largest gain per cost unit that the budget does not serve in full; 0 if it serves all."""
        return price_of(self.whole.problem, self.whole.solution)

    @cached_property
    def bids(self) -> tuple[Bid, ...]:
        """Per member, what its last unit gained and what the next one would."""
        return tuple(bid_of(member) for member in self.members)

    def __repr__(self) -> str:
        shares = ", ".join(f"{member.cost:,.12g}" for member in self.members)
        return f"{self.whole!r}; members: {shares}"


@dataclass(frozen=True, eq=False)
class Pool:
    """Allocators whose budgets are one. Build it with `hra.pool`."""

    members: tuple[HierarchicalResourceAllocator, ...]
    traversal: Traversal
    limits: MemberLimits | None = None
    _unions: Unions = field(default_factory=Unions, repr=False)

    def allocate(
        self, contexts: Sequence[Any], budget: float, *, previous: PooledAllocation | None = None
    ) -> PooledAllocation:
        """Spend ``budget`` over all members, each seen from its own context.

        Parameters
        ----------
        contexts : one per member.
        budget : in the members' cost unit.
        previous : the last step of a sequence of this pool, over the same hierarchies.

        Raises
        ------
        HraError : not one context per member, or ``previous`` of another kind.
        UnitMismatch : members count different cost units, or measure errors in different units.
        InvalidBudget : the budget is not a number >= 0.
        BudgetTooSmall : it does not cover all bases, or cannot serve all members within their limits.
        HierarchyError : ``previous`` belongs to other hierarchies.
        MetricError : a metric returned unusable values, or gains whose sum overflows.
        """
        watch = Stopwatch()
        _check_count("contexts", contexts, len(self.members))
        pairs = list(zip(self.members, contexts, strict=True))
        hierarchies = [hierarchy_of(member, context) for member, context in pairs]
        whole, places = self._unions.of(hierarchies)
        budget = check_budget(budget, whole)
        if self.limits is not None:
            self.limits.check(hierarchies, budget)
        problems = [
            checked_problem(member.problem_for(hierarchy, context, np.inf), type(member).__name__)
            for (member, context), hierarchy in zip(pairs, hierarchies, strict=True)
        ]
        problems = _in_sequence(problems, previous)
        problem = join_problems(whole, problems, places, budget)
        problem.check()
        solution, parts = self._solve(problem, problems, places)
        seconds = watch.wall
        members = [_share(p, s, seconds, context) for p, s, context in zip(problems, parts, contexts, strict=True)]
        return PooledAllocation(Allocation(problem, solution, seconds, tuple(contexts)), tuple(members))

    def _solve(
        self, problem: Problem, problems: list[Problem], places: list[np.ndarray]
    ) -> tuple[Solution, list[Solution]]:
        """The solution over the union, and each member's part of it."""
        if self.limits is None:
            solution = self.traversal.solve(problem)
            return solution, [
                part_of(solution, place, problem.hierarchy, member.hierarchy)
                for member, place in zip(problems, places, strict=True)
            ]
        mixed = any(member.hierarchy.units.decimal != problem.hierarchy.units.decimal for member in problems)
        shares = Shares(problems, self.traversal, self.limits.within(problems), problem.budget, mixed)
        solution = shares.settle(self._unions)
        return solution or _hold(shares, places), shares.solutions


def pool(
    *members: HierarchicalResourceAllocator,
    traversal: Traversal | None = None,
    limits: Sequence[tuple[float | None, float | None]] | None = None,
) -> Pool:
    """One budget over several allocators: textures and geometry in one byte pool, tokens over a batch of images.

    Parameters
    ----------
    members : may repeat: ``hra.pool(*[allocator] * 64)`` shares one budget over 64 contexts.
    traversal : splits the budget and chooses the refinements; `Hull` by default.
    limits : per member the least and the most that it may receive, base included, None for no limit. The least is
        reserved: no other member gets it, as far as this one has refinements that gain.

    Raises
    ------
    HraError : no member, something else as one or as the traversal, not one pair of limits per member, or limits
        together with a limit on changes.
    InvalidBudget : a limit is not a number >= 0, or a minimum exceeds its maximum.

    Examples
    --------
    >>> import hra
    >>> class Given(hra.ErrorMetric):
    ...     def evaluate(self, hierarchy, context):
    ...         return context
    >>> class Nodes(hra.HierarchicalResourceAllocator):
    ...     def realize(self, allocation):
    ...         return allocation.cut.tolist()
    >>> halves = hra.Hierarchy.tree([-1, 0, 0], [1, 1, 1])
    >>> first, second = Nodes(halves, Given(), hra.Hull()), Nodes(halves, Given(), hra.Hull())
    >>> pooled = hra.pool(first, second).allocate(([4.0, 1.0, 1.0], [9.0, 1.0, 1.0]), budget=3)
    >>> [member.cost for member in pooled.members], pooled.price
    ([1.0, 2.0], 2.0)
    >>> second.realize(pooled.members[1])
    [1, 2]
    """
    if not members:
        raise HraError("a pool needs at least one allocator", where="pool()")
    for member in members:
        if not isinstance(member, HierarchicalResourceAllocator):
            raise wrong_kind(
                "member", member, HierarchicalResourceAllocator, "call hra.pool(first, second), or hra.pool(*list)"
            )
    if not isinstance(traversal, (Traversal, type(None))):
        raise wrong_kind("traversal", traversal, Traversal, "call hra.pool(first, second, traversal=hra.Hull())")
    if limits is None:
        return Pool(members, traversal or Hull())
    if isinstance(traversal, Coherent) and traversal.max_churn is not None:
        fix = "use one of them; hysteresis works with limits"
        raise HraError("limits of members and max_churn cannot both be kept", where="pool()", fix=fix)
    return Pool(members, traversal or Hull(), MemberLimits.of(limits, len(members)))


def _check_count(name: str, given: Any, count: int) -> None:
    if not isinstance(given, (tuple, list)) or len(given) != count:
        number = len(given) if isinstance(given, (tuple, list)) else type(given).__name__
        raise HraError(f"{number} {name} for {count} members", where=name, fix="pass a tuple with one per member")


def _in_sequence(problems: list[Problem], previous: PooledAllocation | None) -> list[Problem]:
    if previous is None:
        return problems
    if not isinstance(previous, PooledAllocation):
        raise wrong_kind(
            "previous", previous, PooledAllocation, "pass what the last allocate(...) of the pool returned"
        )
    _check_count("previous allocations", previous.members, len(problems))
    return [in_sequence(problem, member) for problem, member in zip(problems, previous.members, strict=True)]


def _hold(shares: Shares, places: list[np.ndarray]) -> Solution:
    """The shares as one solution over the union, with the bound that their limits allow."""
    selected = np.empty(sum(place.size for place in places), np.bool_)
    for place, solution in zip(places, shares.solutions, strict=True):
        selected[place] = solution.selected
    units = [problem.hierarchy.units for problem in shares.problems]
    base = [unit.exactly(problem.hierarchy.base_cost) for unit, problem in zip(units, shares.problems, strict=True)]
    low, high = (
        [unit.exactly(limit) - least for unit, limit, least in zip(units, limits, base, strict=True)]
        for limits in (shares.limits.low.tolist(), shares.limits.high.tolist())
    )
    capacity = sum(high, Fraction(0))
    if shares.budget < np.inf:
        capacity = min(max(unit.exactly(shares.budget) for unit in units) - sum(base, Fraction(0)), capacity)
    own = np.array([shares.price or 0.0] * len(base))
    for i in np.flatnonzero(~shares.free).tolist():
        problem = replace(shares.problems[i], budget=shares.reserved[i])
        own[i] = price_of(problem, shares.solutions[i])
    price = shares.price
    if price is None:
        price = clearing_price(own, np.array(low, np.float64), np.array(high, np.float64), float(capacity))
    bound = dual_bound(shares.problems, low, high, capacity, own, price)
    return Solution(selected, upper_bound=min(bound, shares.unlimited_bound), restricted=True)


def _share(problem: Problem, solution: Solution, seconds: float, context: Any) -> Allocation:
    """One member's part of a pool's solution, with what it received as its budget."""
    own = replace(problem, budget=spend_at(problem, solution))
    return Allocation(own, replace(solution, shortfall=None, upper_bound=None, restricted=False), seconds, context)
