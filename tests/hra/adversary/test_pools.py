"""Pools against rational arithmetic, with and without limits."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.allocating.allocation import Allocation
from hra.errors import BudgetTooSmall
from hra.model.sets import take_with_predecessors
from hra.pooling.pool import PooledAllocation
from tests.helpers.examples import many
from tests.helpers.instances import COSTS, GAINS, SHAPES, Given, Instance, NoMetric
from tests.helpers.judging import judge
from tests.helpers.rational import ZERO, Exactly, closed_sets, reader

pytestmark = pytest.mark.unverified
Pair = tuple[float | None, float | None]
TRAVERSALS = (hra.Hull(), hra.Exact(), hra.Exact(max_states=1), hra.BestFirst(), hra.Coherent())


@st.composite
def pools(draw: Any) -> tuple[list[Instance], float, list[Pair]]:
    """Two or three members of one kind of costs, a budget for all, and limits for each."""
    cost = draw(st.sampled_from(sorted(COSTS)))
    members = []
    for _ in range(draw(st.integers(2, 3))):
        shape = draw(st.sampled_from(["add", "flat", "dag", "swaps"]))
        hierarchy = SHAPES[shape](draw, COSTS[cost], 4)
        gain = GAINS[draw(st.sampled_from(["whole", "few", "reals", "range"]))](draw, len(hierarchy))
        members.append(Instance(hierarchy, gain, np.inf))
    bases = [member.hierarchy.base_cost for member in members]
    most = sum(member.hierarchy.largest_cost for member in members)
    share = draw(st.floats(0.0, 1.0))
    exact = sum(map(Fraction, bases), ZERO) * Fraction(1 + 2**-50)
    budget = max(draw(st.sampled_from([share * most, round(share * most, 1), most, np.inf])), float(exact))
    limits = [_limits(draw, member, base) for member, base in zip(members, bases, strict=True)]
    return members, budget, limits


def _limits(draw: Any, member: Instance, base: float) -> Pair:
    most = member.hierarchy.largest_cost
    low, high = sorted(base + round(draw(st.floats(0.0, 1.0)) * (most - base), 1) for _ in range(2))
    return draw(st.sampled_from([(None, None), (low, None), (None, high), (low, high)]))


def allocate(members: Sequence[Instance], budget: float, traversal: Any, limits: Any = None) -> PooledAllocation:
    allocators = [Given(member.hierarchy, NoMetric(), traversal) for member in members]
    return hra.pool(*allocators, traversal=traversal, limits=limits).allocate(list(members), budget)


@many
@given(pools(), st.sampled_from(TRAVERSALS))
def test_pools_without_limits_keep_their_promises(pool, traversal):
    members, budget, _ = pool
    found = allocate(members, budget, traversal)
    best = Exactly.of(found.whole.problem).best()
    assert best is not None
    judge(found.whole, best)
    for member in found.members:
        # A member's budget is what the pool gave to it: nothing is left, and nothing more is spent.
        assert member.cost == member.budget
        judge(member, Exactly.of(member.problem).best() or ZERO)


@many
@given(pools(), st.sampled_from(TRAVERSALS[:4]))
def test_pools_with_limits_keep_them_and_bound_what_they_allow(pool, traversal):
    members, budget, limits = pool
    try:
        found = allocate(members, budget, traversal, limits)
    except BudgetTooSmall:
        return
    whole = found.whole
    exactly = Exactly.of(whole.problem)
    assert exactly.affordable(exactly.spent(whole.selected))
    assert whole.cost <= budget
    for member, (_, high) in zip(found.members, limits, strict=True):
        own = Exactly.of(member.problem)
        read = reader(member.hierarchy.node_cost)
        assert high is None or own.spent(member.selected) <= read(high)
    verdict = hra.verify(whole)
    assert verdict.ok, verdict.refuted
    best = best_within(whole, members, limits)
    assert best <= Fraction(whole.upper_bound)
    assert best - exactly.gained(whole.selected) <= Fraction(whole.shortfall)


def best_within(whole: Allocation, members: Sequence[Instance], limits: Sequence[Pair]) -> Fraction:
    """The most that sets within the limits gain: what is reserved for a member is lost to the others."""
    read = reader(whole.hierarchy.node_cost)
    choices = [(ZERO, ZERO)]  # what is taken of the budget, and gained
    for member, pair in zip(members, limits, strict=True):
        own = _choices(member, pair, read)
        joined = [(a + c, b + d) for a, b in choices for c, d in own]
        choices = _undominated(joined)
    budget = None if whole.budget == np.inf else read(whole.budget)
    return max(gain for cost, gain in choices if budget is None or cost <= budget)


def _choices(member: Instance, pair: Pair, read: Any) -> list[tuple[Fraction, Fraction]]:
    """Costs as the pool's budget counts them, of sets within the limits, which count in the member's own numbers."""
    exactly, own = Exactly.of(member.problem, read), Exactly.of(member.problem)
    high = None if pair[1] is None else reader(member.hierarchy.node_cost)(pair[1])
    useful = member.gain > 0
    take_with_predecessors(*member.hierarchy.predecessors, useful)
    low = ZERO if pair[0] is None else min(read(pair[0]), exactly.spent(useful))
    sets = [s for s in closed_sets(exactly) if high is None or own.spent(s) <= high]
    return _undominated([(max(exactly.spent(s), low), exactly.gained(s)) for s in sets])


def _undominated(choices: list[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    best: list[tuple[Fraction, Fraction]] = []
    for cost, gain in sorted(choices, key=lambda choice: (choice[0], -choice[1])):
        if not best or gain > best[-1][1]:
            best.append((cost, gain))
    return best
