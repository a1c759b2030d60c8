"""Pools whose members have a minimum and a maximum: what is kept, what is best, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.errors import BudgetTooSmall, HraError, InvalidBudget
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from hra.pooling.limits import MemberLimits
from hra.pooling.pool import PooledAllocation, clearing_price, dual_bound, pool, relaxed_value
from hra.testing.traversal import closed_sets
from tests.helpers.allocators import Plain, Table
from tests.helpers.hierarchies import FORESTS, KINDS, case
from tests.helpers.traversals import TRAVERSALS

seeds = st.integers(0, 2**32 - 1)


def random_members(rng: np.random.Generator, kinds: tuple[str, ...] = tuple(KINDS), largest: int = 6) -> list[Plain]:
    members = []
    for kind in rng.choice(list(kinds), int(rng.integers(2, 4))):
        hierarchy, values, _ = case(kind, int(rng.integers(2**32)), largest)
        members.append(Plain(hierarchy, Table(values, kind="gain"), hra.Hull()))
    return members


def hierarchy_of(member: Plain) -> Hierarchy:
    return member.hierarchy_for(None)


def random_limits(
    rng: np.random.Generator, members: list[Plain]
) -> tuple[list[tuple[float | None, float | None]], float]:
    """Limits that can be met, some of them None, and a budget that meets them."""
    limits, least = [], 0.0
    for hierarchy in map(hierarchy_of, members):
        low, high = np.sort(rng.integers(0, int(hierarchy.cost.sum()) + 3, 2)) + hierarchy.base_cost
        pair = (float(low) if rng.random() < 0.6 else None, float(high) if rng.random() < 0.6 else None)
        limits.append(pair)
        least += max(hierarchy.base_cost, min(pair[0] or 0.0, hierarchy.total_cost))
    most = sum(hierarchy_of(member).total_cost for member in members)
    return limits, float(least + rng.integers(0, max(int(most - least), 0) + 2))


def random_pool(
    seed: int, traversal: hra.Traversal, kinds: tuple[str, ...] = tuple(KINDS)
) -> tuple[PooledAllocation, list[tuple[float | None, float | None]], float]:
    rng = np.random.default_rng(seed)
    members = random_members(rng, kinds)
    limits, budget = random_limits(rng, members)
    split = pool(*members, traversal=traversal, limits=limits)
    return split.allocate([None] * len(members), budget), limits, budget


def usable(problem: Problem, low: float | None) -> float:
    """``low``, but no more than the cheapest way to all of the member's gain costs, and no less than its base."""
    sets, hierarchy = closed_sets(problem.hierarchy), problem.hierarchy
    all_gain = sets[sets[:, problem.gain > 0].all(axis=1)]
    return max(hierarchy.base_cost, min(low or 0.0, hierarchy.base_cost + (all_gain @ hierarchy.cost).min()))


def certified(result: PooledAllocation) -> float:
    """The bound as it was derived; `Allocation.upper_bound` would hide one that is too low behind the gain."""
    bound = result.whole.solution.upper_bound
    return result.whole.upper_bound if bound is None else bound


def most_left(problem: Problem, price: float) -> float:
    """The most gain - price * cost of any valid selection."""
    return float((closed_sets(problem.hierarchy) @ (problem.gain - price * problem.hierarchy.cost)).max())


def best_within(problems: list[Problem], limits: list[tuple[float | None, float | None]], budget: float) -> float:
    """The most gain of any choice with ``cost <= high`` and ``sum of max(cost, usable low) <= budget``."""
    options = []
    for problem, (low, high) in zip(problems, limits, strict=True):
        sets, hierarchy = closed_sets(problem.hierarchy), problem.hierarchy
        cost, gain = hierarchy.base_cost + sets @ hierarchy.cost, sets @ problem.gain
        charged = np.maximum(cost, usable(problem, low))
        options.append([(c, gain[(cost <= (high or np.inf)) & (charged <= c)].max()) for c in np.unique(charged)])
        if high is not None:
            options[-1] = [(c, g) for c, g in options[-1] if c <= max(high, usable(problem, low))]
    affordable = (choice for choice in product(*options) if sum(c for c, _ in choice) <= budget)
    return max(sum(g for _, g in choice) for choice in affordable)


@pytest.mark.parametrize("name", TRAVERSALS)
@given(seed=seeds)
def test_limits_and_budget_hold_to_the_unit(name, seed):
    result, limits, budget = random_pool(seed, TRAVERSALS[name])
    assert result.whole.cost == sum(member.cost for member in result.members) <= budget
    reserved = 0.0
    for member, (low, high) in zip(result.members, limits, strict=True):
        assert member.cost <= (np.inf if high is None else high)
        assert member.hierarchy.is_valid(member.selected)
        reserved += max(member.cost, usable(member.problem, low))
    assert reserved <= budget


@pytest.mark.parametrize("name", ["hull", "hull-exact", "best-first"])
@given(seed=seeds)
def test_a_member_below_its_minimum_has_nothing_left_that_gains_and_fits_into_it(name, seed):
    result, limits, _ = random_pool(seed, TRAVERSALS[name])
    for member, (low, high) in zip(result.members, limits, strict=True):
        hierarchy, selected = member.hierarchy, member.selected
        offsets, predecessors = hierarchy.predecessors
        for r in np.flatnonzero(~selected & (member.problem.gain > 0)):
            ready = selected[predecessors[offsets[r] : offsets[r + 1]]].all()
            room = min(low or 0.0, np.inf if high is None else high)
            assert not ready or member.cost + hierarchy.cost[r] > room


@pytest.mark.parametrize("kinds", [FORESTS, tuple(KINDS)])
@given(seed=seeds)
def test_no_choice_within_the_limits_beats_the_bound(kinds, seed):
    result, limits, budget = random_pool(seed, hra.Hull(), kinds)
    best = best_within([member.problem for member in result.members], limits, budget)
    slack = 1e-9 * max(best, 1.0)
    assert result.whole.gain <= best + slack
    assert best <= certified(result) + slack


@given(seed=seeds)
def test_no_split_within_the_limits_beats_the_bound(seed):
    rng = np.random.default_rng(seed)
    members = random_members(rng)[:2]
    limits, budget = random_limits(rng, members)
    whole = pool(*members, limits=limits).allocate((None, None), budget).whole
    first, second = map(hierarchy_of, members)
    for share in np.arange(first.base_cost, budget - second.base_cost + 1):
        shares = (share, budget - share)
        if all((low or 0) <= s <= (s if high is None else high) for s, (low, high) in zip(shares, limits, strict=True)):
            parts = [member.allocate(None, s).gain for member, s in zip(members, shares, strict=True)]
            assert sum(parts) <= whole.upper_bound * (1 + 1e-9)


@given(seed=seeds)
def test_where_the_hulls_have_no_corners_to_miss_the_bound_is_met(seed):
    # Unit costs and falling gains: the relaxation is the problem itself, so any loss would be one of the split.
    rng = np.random.default_rng(seed)
    members = [
        Plain(Hierarchy.flat(np.ones(n)), Table(rng.random(n) * scale, kind="gain"), hra.Hull())
        for n, scale in zip(rng.integers(1, 30, 4), (1, 3, 10, 0.2), strict=True)
    ]
    limits, budget = random_limits(rng, members)
    result = pool(*members, limits=limits).allocate([None] * 4, budget)
    assert result.whole.gain == pytest.approx(certified(result), rel=1e-9, abs=1e-12)
    for member, (low, _) in zip(result.members, limits, strict=True):
        assert member.cost >= min(low or 0.0, member.hierarchy.total_cost)


@pytest.mark.parametrize("name", TRAVERSALS)
@given(seed=seeds)
def test_limits_that_do_not_bind_change_nothing(name, seed):
    rng = np.random.default_rng(seed)
    members = random_members(rng)
    _, budget = random_limits(rng, members)
    contexts, loose = [None] * len(members), [(None, None), (0, np.inf), (0.0, 1e9)][: len(members)]
    plain, limited = (
        pool(*members, traversal=TRAVERSALS[name], limits=limits).allocate(contexts, budget) for limits in (None, loose)
    )
    assert (plain.whole.selected == limited.whole.selected).all()
    assert plain.whole.upper_bound == limited.whole.upper_bound
    assert plain.price == limited.price


@given(seed=seeds)
def test_limits_never_raise_the_gain_that_is_possible(seed):
    rng = np.random.default_rng(seed)
    members = random_members(rng, FORESTS)
    limits, budget = random_limits(rng, members)
    contexts = [None] * len(members)
    free = pool(*members).allocate(contexts, budget).whole
    tied = pool(*members, limits=limits).allocate(contexts, budget).whole
    assert tied.upper_bound <= free.upper_bound * (1 + 1e-9)


def greedy_pair() -> list[Plain]:
    """Two members of ten unit steps; each step of the second gains twice as much."""
    return [
        Plain(Hierarchy.flat(np.ones(10)), Table(np.arange(10, 0, -1.0) * scale, kind="gain"), hra.Hull())
        for scale in (1, 100)
    ]


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ([(None, None), (None, None)], [2, 10]),
        ([(5, None), (None, None)], [5, 7]),
        ([(None, None), (None, 4)], [8, 4]),
        ([(None, 3), (None, 4)], [3, 4]),
        ([(3, 3), (None, None)], [3, 9]),
        ([(np.inf, None), (None, None)], [10, 2]),
    ],
)
def test_members_outside_their_limits_are_held_and_the_others_share_the_rest(limits, expected):
    result = pool(*greedy_pair(), limits=limits).allocate((None, None), 12)
    assert [member.cost for member in result.members] == expected
    assert result.whole.status == "optimal"


def test_what_a_member_cannot_use_is_not_reserved():
    useless = Plain(Hierarchy.flat(np.ones(10)), Table(np.r_[1.0, np.zeros(9)], kind="gain"), hra.Hull())
    _, greedy = greedy_pair()
    result = pool(useless, greedy, limits=[(8, None), (None, None)]).allocate((None, None), 10)
    assert [member.cost for member in result.members] == [1, 9]


def test_what_nobody_can_spend_goes_to_a_member_at_its_minimum():
    # Of 3 reserved units the first spends 2; of the other 7 the second spends 5; the 3 that remain buy one step more.
    small, large = (
        Plain(Hierarchy.flat(np.full(2, cost)), Table(gains, kind="gain"), hra.Hull())
        for cost, gains in ((2.0, [0.2, 0.1]), (5.0, [100.0, 90.0]))
    )
    result = pool(small, large, limits=[(3, None), (None, None)]).allocate((None, None), 10)
    assert [member.cost for member in result.members] == [4, 5]


def test_what_leads_to_gain_counts_as_useful():
    late = Plain(Hierarchy.chains([4], [0.0, 1, 1, 1]), Table([0.0, 0, 0, 1], kind="gain"), hra.Hull())
    _, greedy = greedy_pair()
    result = pool(late, greedy, limits=[(9, None), (None, None)]).allocate((None, None), 9)
    assert [member.cost for member in result.members] == [3, 6]


@pytest.mark.parametrize("kinds", [FORESTS, tuple(KINDS)])
@given(seed=seeds)
def test_any_prices_make_a_valid_bound(kinds, seed):
    rng = np.random.default_rng(seed)
    members = random_members(rng, kinds)
    limits, budget = random_limits(rng, members)
    problems = [member.problem_for(hierarchy_of(member), None, np.inf) for member in members]
    base = np.array([problem.hierarchy.base_cost for problem in problems])
    reach = MemberLimits.of(limits, len(members)).within(problems)
    price, own = rng.exponential(0.3), rng.exponential(0.3, base.size)
    own[rng.random(base.size) < 0.3] = price
    low, high, capacity = reach.low - base, reach.high - base, budget - base.sum()
    exactly = ([Fraction(limit) for limit in limits.tolist()] for limits in (low, high))
    bound = dual_bound(problems, next(exactly), next(exactly), Fraction(float(capacity)), own, price)
    assert best_within(problems, limits, budget) <= bound * (1 + 1e-9) + 1e-9
    if kinds is FORESTS:
        # The formula by enumeration, with the better of the two prices for each member.
        terms = [
            min(most_left(problem, p) + max(p - price, 0) * h - max(price - p, 0) * least for p in (price, o))
            for problem, least, h, o in zip(problems, low, high, own, strict=True)
        ]
        assert bound == pytest.approx(price * capacity + sum(terms))


@given(st.floats(1e-3, 1e3), st.fractions(0, 1000, max_denominator=97))
def test_a_bound_is_the_least_double_that_is_not_below_what_is_exact(price: float, capacity: Fraction):
    bound, exact = dual_bound([], [], [], capacity, np.empty(0), price), Fraction(price) * capacity
    assert Fraction(bound) >= exact and (bound == 0 or Fraction(np.nextafter(bound, 0)) < exact)


def test_infinite_and_fractional_budgets_keep_the_limits():
    for budget, expected in ((np.inf, [10, 4]), (7.5, [3, 4])):
        result = pool(*greedy_pair(), limits=[(None, None), (1.5, 4.5)]).allocate((None, None), budget)
        assert [member.cost for member in result.members] == expected


@pytest.mark.parametrize(
    ("limits", "error", "message"),
    [
        ([(1, 2)], HraError, "1 limits for 2 members"),
        (5, HraError, "int limits for 2 members"),
        ([(1, 2), 3], HraError, r"pairs.*\n.*limits\[1\]"),
        ([(1, 2), (1, 2, 3)], HraError, r"limits\[1\]"),
        ([(1, 2), (float("nan"), 2)], InvalidBudget, r"nan\n.*limits\[1\]"),
        ([(-1, 2), (1, 2)], InvalidBudget, r"-1\n.*limits\[0\]"),
        ([(1, 2), (None, "9")], InvalidBudget, r"limits\[1\]"),
        ([(1, 2), (True, 2)], InvalidBudget, r"limits\[1\]"),
        ([(1, 2), (5, 4)], InvalidBudget, r"minimum 5 exceeds the maximum 4\n.*limits\[1\]"),
    ],
)
def test_limits_that_are_none_are_refused_and_the_member_named(limits, error, message):
    with pytest.raises(error, match=message):
        pool(*greedy_pair(), limits=limits)


def test_limits_that_cannot_be_met_are_refused_and_the_member_named():
    with pytest.raises(BudgetTooSmall, match=r"receive 13 units(.|\n)*limits\[1\]: member 1 takes the most, 9"):
        pool(*greedy_pair(), limits=[(4, None), (9, None)]).allocate((None, None), 12)
    tree = Plain(Hierarchy.tree([-1, 0, 0], [2, 2, 2]), Table([3, 1, 1]), hra.Hull())
    with pytest.raises(BudgetTooSmall, match=r"member 1 may cost 1 units, its coarsest level costs 2\n.*limits\[1\]"):
        pool(tree, tree, limits=[(None, None), (None, 1)]).allocate((None, None), 12)


def test_a_limit_on_changes_and_limits_of_members_are_refused_together():
    with pytest.raises(HraError, match="max_churn"):
        pool(*greedy_pair(), traversal=hra.Coherent(max_churn=1), limits=[(None, 5), (None, None)])
    pool(*greedy_pair(), traversal=hra.Coherent(), limits=[(None, 5), (None, None)])


@given(seed=seeds)
def test_the_clearing_price_minimises_the_dual_of_held_members(seed):
    rng = np.random.default_rng(seed)
    own, low = rng.integers(0, 4, 4).astype(float), rng.integers(0, 4, 4).astype(float)
    high = low + rng.integers(0, 4, 4)
    capacity = float(min(low.sum() + rng.integers(0, 9), high.sum()))

    def dual(price: float) -> float:
        return price * capacity + (np.maximum(own - price, 0) * high - np.maximum(price - own, 0) * low).sum()

    best = min(dual(price) for price in (0.0, *own))
    assert dual(clearing_price(own, low, high, capacity)) == pytest.approx(best)


def steps(cost: float, gains: list[float]) -> Plain:
    return Plain(Hierarchy.flat(np.full(len(gains), cost)), Table(gains, kind="gain"), hra.Hull())


def test_what_nobody_can_spend_goes_to_the_member_that_pays_most():
    # Each of the first two spends 2 of its 3, the last 5 of the other 6: one of them gets its second step.
    members = [steps(2, [0.2, 0.1]), steps(2, [0.4, 0.3]), steps(5, [100, 90])]
    result = pool(*members, limits=[(3, None), (3, None), (None, None)]).allocate([None] * 3, 12)
    assert [member.cost for member in result.members] == [2, 4, 5]


def test_a_member_at_its_most_leaves_the_rest_to_the_next():
    members = [steps(2, [50.0, 40.0]), steps(2, [0.2, 0.1]), steps(5, [100, 90])]
    result = pool(*members, limits=[(None, 2), (3, None), (None, None)]).allocate([None] * 3, 11)
    assert [member.cost for member in result.members] == [2, 4, 5]


def test_limits_and_their_bound_are_in_cost_units_whatever_the_whole_unit():
    found = []
    for unit in (1.0, 0.25):
        members = [steps(unit, list(np.arange(5, 0, -1.0) * scale)) for scale in (1, 3, 10)]
        limits = [(2 * unit, None), (None, 3 * unit), (None, 2.5 * unit)]
        found.append(pool(*members, limits=limits).allocate([None] * 3, 7 * unit))
    whole, quarters = found
    assert [m.cost for m in whole.members] == [4 * m.cost for m in quarters.members]
    assert quarters.whole.upper_bound == pytest.approx(whole.whole.upper_bound)
    assert quarters.price == pytest.approx(4 * whole.price)


def test_a_pool_of_one_has_limits():
    with pytest.raises(BudgetTooSmall, match=r"limits\[0\]"):
        pool(steps(1, [1.0, 1.0]), limits=[(2, None)]).allocate([None], 1)


def test_what_a_graph_gains_at_a_price_is_bounded_well():
    # What the third has pays for the first two, but not in halves.
    graph = Hierarchy.dag([1.0, 3.0, 1.0], np.array([[0, 2], [1, 2]], np.int32))
    member = Plain(graph, Table([0.0, 0.0, 5.0], kind="gain"), hra.Hull())
    problem = member.problem_for(graph, None, np.inf)
    assert most_left(problem, 1.0) == 0 <= relaxed_value(problem, 1.0) < 0.5  # 1 with halves


def test_the_bound_of_limits_counts_what_is_beyond_the_bases():
    # Unit steps on bases of 5: the relaxation is the problem itself.
    shape = Hierarchy.tree([-1, 0, 0, 0], [5, 1, 1, 1], mode="add")
    members = [Plain(shape, Table(gains, kind="gain"), hra.Hull()) for gains in ([0, 3.0, 2, 1], [0, 30.0, 20, 10])]
    result = pool(*members, limits=[(7, None), (None, None)]).allocate((None, None), 14)
    assert [member.cost for member in result.members] == [7, 7]
    assert certified(result) == pytest.approx(result.whole.gain) == pytest.approx(55)


@pytest.mark.parametrize("traversal", [hra.Hull(), hra.Exact(), hra.BestFirst()])
def test_gains_of_a_graph_that_are_too_large_at_a_price_of_its_own_are_bounded(traversal):
    """What its costs are worth at that price overflowed: an OverflowError."""
    graph = Hierarchy.dag([1, 1e7, 1], [[0, 1], [0, 2]])
    members = [Plain(h, Table(kind="gain"), traversal) for h in (graph, Hierarchy.flat([1, 1, 1]))]
    limited = pool(*members, limits=[(None, 1), (None, None)], traversal=traversal)
    whole = limited.allocate((np.full(3, 1e300), np.array([3.0, 2.0, 1.0])), 3).whole
    assert whole.gain <= whole.upper_bound <= 3.1e300 and hra.verify(whole).ok
