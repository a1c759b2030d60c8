"""Pools: one budget over several allocators."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.allocating.allocator import HierarchicalResourceAllocator
from hra.errors import BudgetTooSmall, HierarchyError, HraError, InvalidBudget, MetricError, UnitMismatch
from hra.model.hierarchy import Hierarchy
from hra.model.problem import LARGEST_TOTAL
from hra.pooling.pool import Pool, PooledAllocation, pool
from hra.pooling.union import Unions, edge_order, union
from tests.helpers.allocators import Plain, Table, allocate
from tests.helpers.hierarchies import KINDS, case
from tests.helpers.traversals import TRAVERSALS

seeds = st.integers(0, 2**32 - 1)


def random_members(rng: np.random.Generator, largest: int = 8) -> list[HierarchicalResourceAllocator]:
    members = []
    for kind in rng.choice(list(KINDS), int(rng.integers(2, 4))):
        hierarchy, values, _ = case(kind, int(rng.integers(2**32)), largest)
        members.append(Plain(hierarchy, Table(values, kind="gain"), hra.Hull()))
    return members


def contexts(members: Sequence[HierarchicalResourceAllocator]) -> list[None]:
    return [None] * len(members)


def random_budget(rng: np.random.Generator, members: Sequence[HierarchicalResourceAllocator]) -> float:
    hierarchies = [member.hierarchy_for(None) for member in members]
    base = sum(hierarchy.base_cost for hierarchy in hierarchies)
    return base + float(rng.integers(0, int(sum(h.cost.sum() for h in hierarchies)) + 2))


@pytest.mark.parametrize("name", TRAVERSALS)
@given(seed=seeds)
def test_the_members_add_up_to_the_whole_and_the_whole_keeps_the_budget(name, seed):
    rng = np.random.default_rng(seed)
    members = random_members(rng)
    budget = random_budget(rng, members)
    result = pool(*members, traversal=TRAVERSALS[name]).allocate(contexts(members), budget)
    assert result.whole.cost <= result.whole.budget == budget
    assert result.whole.cost == sum(member.cost for member in result.members)
    assert result.whole.gain == pytest.approx(sum(member.gain for member in result.members))
    assert result.whole.base_error == pytest.approx(sum(member.base_error for member in result.members))
    assert result.whole.max_error == max(member.max_error for member in result.members)
    assert result.whole.selected.sum() == sum(member.selected.sum() for member in result.members)
    for allocator, member in zip(members, result.members, strict=True):
        assert member.hierarchy is allocator.hierarchy_for(None)
        assert member.cost == member.budget
        assert member.hierarchy.is_valid(member.selected)
        assert member.gain <= member.upper_bound


@given(seed=seeds)
def test_no_fixed_split_of_the_budget_beats_the_bound_of_the_pool(seed):
    rng = np.random.default_rng(seed)
    members = random_members(rng, 5)[:2]
    budget = random_budget(rng, members)
    whole = pool(*members).allocate(contexts(members), budget).whole
    bases = [member.hierarchy_for(None).base_cost for member in members]
    best = 0.0
    for first in np.arange(bases[0], budget - bases[1] + 1):
        best = max(best, members[0].allocate(None, first).gain + members[1].allocate(None, budget - first).gain)
    assert best <= whole.upper_bound * (1 + 1e-9)
    # What rounding to whole refinements may lose: the part of one block that did not fit.
    assert whole.gain >= best - (whole.upper_bound - whole.gain) - 1e-9


@given(seed=seeds)
def test_a_pool_of_forests_is_as_good_as_one_forest(seed):
    rng = np.random.default_rng(seed)
    tables = [(rng.integers(0, 5, n), rng.random(n)) for n in rng.integers(1, 8, 3)]
    members = [Plain(Hierarchy.flat(cost), Table(gain, kind="gain"), hra.Hull()) for cost, gain in tables]
    one = Hierarchy.flat(np.concatenate([cost for cost, _ in tables]))
    gains = np.concatenate([gain for _, gain in tables])
    for budget in range(int(one.total_cost) + 1):
        pooled = pool(*members, traversal=hra.Hull(finish="none")).allocate(contexts(members), budget).whole
        joined = allocate(one, gains, budget, hra.Hull(finish="none"), "gain")
        assert pooled.gain == pytest.approx(joined.gain)
        assert pooled.upper_bound == pytest.approx(joined.upper_bound)


def test_a_pool_gives_its_budget_to_the_member_that_gains_more():
    small, large = (
        Plain(Hierarchy.flat(np.ones(4)), Table(np.full(4, g), kind="gain"), hra.Hull()) for g in (1.0, 2.0)
    )
    result = pool(small, large).allocate((None, None), 5)
    assert [member.cost for member in result.members] == [1, 4]
    assert "members: 1, 4" in repr(result)


def test_every_member_sees_its_own_context():
    members = [Plain(Hierarchy.flat([1, 1]), Table(kind="gain"), hra.Hull()) for _ in range(2)]
    result = pool(*members).allocate(([9, 0], [0, 8]), 2)
    assert [member.cut.tolist() for member in result.members] == [[0], [1]]
    assert [member.context for member in result.members] == [[9, 0], [0, 8]]


def test_one_allocator_may_be_a_member_twice():
    member = Plain(Hierarchy.flat([1, 1]), Table(kind="gain"), hra.Hull())
    assert [m.gain for m in pool(member, member).allocate(([9, 1], [5, 7]), 3).members] == [9, 12]


def mismatched(cost_units: tuple[str, str], units: tuple[str, str]) -> Pool:
    pairs = zip(cost_units, units, strict=True)
    return pool(*(Plain(Hierarchy.flat([1], cost_unit=c), Table([1], unit=u), hra.Hull()) for c, u in pairs))


def test_members_that_count_or_measure_different_things_are_refused():
    with pytest.raises(UnitMismatch, match="cost unit") as caught:
        mismatched(("bytes", "triangles"), ("px2", "px2")).allocate((None, None), 5)
    assert caught.value.where == "bytes, triangles"
    with pytest.raises(UnitMismatch, match="unit of error") as caught:
        mismatched(("bytes", "bytes"), ("px2", "psnr")).allocate((None, None), 5)
    assert caught.value.where == "psnr, px2"


def test_a_pool_that_is_not_additive_in_one_member_has_no_certificate():
    members = [Plain(Hierarchy.flat([1]), Table([1], additive=a), hra.Hull()) for a in (True, False)]
    assert pool(*members).allocate((None, None), 2).whole.status == "heuristic"


def test_an_empty_pool_and_a_wrong_number_of_contexts_are_refused():
    with pytest.raises(HraError, match="at least one"):
        pool()
    member = Plain(Hierarchy.flat([1]), Table([1]), hra.Hull())
    with pytest.raises(HraError, match="1 contexts for 2 members"):
        pool(member, member).allocate((None,), 5)


@pytest.mark.parametrize("given_contexts", [None, 5, object()])
def test_contexts_that_are_no_sequence_are_refused(given_contexts):
    member = Plain(Hierarchy.flat([1]), Table([1]), hra.Hull())
    with pytest.raises(HraError, match="context"):
        pool(member).allocate(given_contexts, 5)


def test_the_budget_of_a_pool_is_checked_against_all_bases():
    member = Plain(Hierarchy.tree([-1, 0, 0], [2, 2, 2]), Table([3, 1, 1]), hra.Hull())
    with pytest.raises(BudgetTooSmall, match="costs 4"):
        pool(member, member).allocate((None, None), 3)
    with pytest.raises(InvalidBudget):
        pool(member, member).allocate((None, None), float("nan"))
    assert pool(member, member).allocate((None, None), 4).whole.cost == 4


def test_empty_members_take_no_part():
    for first, second in product([Hierarchy.flat([]), Hierarchy.flat([1])], repeat=2):
        members = [Plain(h, Table(np.ones(h.node_cost.size), kind="gain"), hra.Hull()) for h in (first, second)]
        whole = pool(*members).allocate((None, None), 10).whole
        assert whole.gain == len(first) + len(second)


def test_a_pool_joins_the_same_hierarchies_only_once():
    member = Plain(Hierarchy.flat([1, 1]), Table(kind="gain"), hra.Hull())
    twice = pool(member, member)
    first, second = (twice.allocate(given, 3).whole for given in (([9, 1], [5, 7]), ([1, 1], [2, 3])))
    assert first.hierarchy is second.hierarchy
    assert pickle.loads(pickle.dumps(twice)).allocate(([9, 1], [5, 7]), 3).whole.gain == first.gain


def test_only_the_last_few_unions_are_remembered():
    hierarchies, unions = [Hierarchy.flat([1.0]) for _ in range(3)], Unions(kept=2)
    first, second = unions.of(hierarchies[:1]), unions.of(hierarchies[1:2])
    assert unions.of(hierarchies[:1]) is first
    unions.of(hierarchies)
    assert unions.of(hierarchies[:1]) is first
    assert unions.of(hierarchies[1:2]) is not second


def churn(step: PooledAllocation) -> int:
    assert step.whole.churn is not None
    return step.whole.churn


@pytest.mark.parametrize("limits", [None, [(2, None), (None, 4), (None, None)]])
def test_a_sequence_stays_close_to_its_last_step(limits):
    rng = np.random.default_rng(0)
    member = Plain(Hierarchy.flat(np.ones(20)), Table(kind="gain"), hra.Hull())
    start = [rng.random(20) for _ in range(3)]
    moved = [gains * rng.uniform(0.5, 1.5, 20) for gains in start]
    calm = hra.Coherent(hysteresis=0.5)
    plain, coherent = (pool(*[member] * 3, traversal=t, limits=limits) for t in (hra.Hull(), calm))
    last = plain.allocate(start, 25)
    free, held = plain.allocate(moved, 25, previous=last), coherent.allocate(moved, 25, previous=last)
    assert churn(held) < churn(free) == sum(np.count_nonzero(m.problem.previous != m.selected) for m in free.members)
    assert (free.whole.selected == plain.allocate(moved, 25).whole.selected).all()
    assert plain.allocate(start, 25, previous=last).whole.churn == 0
    assert plain.allocate(start, 25).whole.churn is None


def test_a_sequence_changes_no_more_than_allowed():
    rng = np.random.default_rng(1)
    member = Plain(Hierarchy.flat(np.ones(20)), Table(kind="gain"), hra.Hull())
    steady = pool(member, member, traversal=hra.Coherent(max_churn=3))
    last = steady.allocate([rng.random(20) for _ in range(2)], 15)
    assert churn(steady.allocate([rng.random(20) for _ in range(2)], 15, previous=last)) <= 3


def test_the_last_step_of_another_pool_is_refused():
    member, other = (Plain(Hierarchy.flat([1, cost]), Table(kind="gain"), hra.Hull()) for cost in (1, 2))
    last = pool(member, member).allocate(([9, 1], [5, 7]), 3)
    with pytest.raises(HierarchyError, match="other nodes"):
        pool(member, other).allocate(([9, 1], [5, 7]), 3, previous=last)
    with pytest.raises(HraError, match="2 previous allocations for 1 members"):
        pool(member).allocate(([9, 1],), 3, previous=last)


def test_what_is_no_allocator_is_no_member():
    with pytest.raises(HraError, match=r"hra\.pool\(first, second\)"):
        pool(5)  # pyright: ignore[reportArgumentType]


def test_gains_that_no_bound_holds_for_are_refused():
    member = Plain(Hierarchy.flat([1, 1]), Table(kind="gain"), hra.Hull())
    largest = LARGEST_TOTAL * 0.6
    assert pool(member).allocate(([largest, 0.0],), 2).whole.gain == largest
    with pytest.raises(MetricError, match="too large"):
        pool(member, member).allocate(([largest, 0.0], [largest, 0.0]), 2)


def test_the_part_of_a_member_is_certified_by_itself():
    members = [Plain(Hierarchy.flat([1, 1, 1]), Table(kind="gain"), hra.Hull()) for _ in range(2)]
    found = pool(*members).allocate(([9.0, 2, 1], [8.0, 7, 3]), 4)
    assert [member.status for member in found.members] == ["optimal", "optimal"]


def test_a_graph_that_gains_nothing_and_makes_room_is_certified_by_itself():
    """Its part of the budget is less than its base; that was a ZeroDivisionError when its bound was read."""
    graph = Hierarchy.groups([1, 1, 2, 2, 1], [-1, -1, 0, 1, 2], [0, 1, 2, 2, -1])
    members = [Plain(h, Table(kind="gain"), hra.Hull()) for h in (graph, Hierarchy.flat([1, 1, 1]))]
    shares = pool(*members).allocate((np.zeros(5), np.array([3.0, 2.0, 1.0])), 4).members
    assert [share.cost for share in shares] == [1, 3] and graph.base_cost == 2
    assert [share.upper_bound for share in shares] == [0, 6]
    assert all(share.status == "optimal" and hra.verify(share).ok for share in shares)


@given(seed=seeds)
def test_edges_of_the_members_are_those_of_their_union(seed):
    rng = np.random.default_rng(seed)
    hierarchies = [member.hierarchy_for(None) for member in random_members(rng)]
    whole, places = union(hierarchies)
    edges = np.concatenate([place[one.edges] for one, place in zip(hierarchies, places, strict=True)])
    assert np.array_equal(edges[edge_order(hierarchies, places)], whole.edges)


@pytest.mark.parametrize("wrong", ["hull", hra.Hull])
def test_a_traversal_that_is_none_is_refused(wrong: Any):
    member = Plain(Hierarchy.flat([1, 1]), Table(kind="gain"), hra.Hull())
    with pytest.raises(HraError, match="traversal must be a Traversal"):
        pool(member, traversal=wrong)


def test_what_is_no_allocation_of_a_pool_is_no_previous_one():
    pooled = pool(Plain(Hierarchy.flat([1, 1]), Table(kind="gain"), hra.Hull()))
    last = pooled.allocate(([9, 0],), 2)
    for wrong in (last.whole, last.members, 3):
        with pytest.raises(HraError, match="previous must be a PooledAllocation"):
            pooled.allocate(([9, 0],), 2, previous=wrong)  # pyright: ignore[reportArgumentType]


def test_levels_of_members_are_none_of_their_pool_which_says_what_to_use():
    member = Plain(Hierarchy.flat([1, 1], attributes={"level": [0, 1]}), Table(kind="gain"), hra.Hull())
    named, depth = (pool(member, member, traversal=hra.LevelShares({0: 0.5}, level=level)) for level in ("level", None))
    with pytest.raises(HierarchyError, match="use level=None for the depth, as in a pool"):
        named.allocate(([1.0, 2.0], [3.0, 4.0]), 2)
    assert depth.allocate(([1.0, 2.0], [3.0, 4.0]), 2).whole.gain == 7
