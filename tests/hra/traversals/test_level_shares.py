"""Minimum shares of levels: against all valid sets, integer programs, and every error."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given

import hra
from hra.errors import ArrayError, HierarchyError, HraError, InfeasibleShares
from hra.model.hierarchy import Hierarchy
from hra.testing.traversal import closed_sets
from tests.helpers.allocators import Plain, Table, allocate
from tests.helpers.hierarchies import FORESTS, case, depths, random_parents
from tests.helpers.level_shares_cases import amounts, asked, kinds, seeds, walked_levels
from tests.helpers.references import bound_of

# ---- against all sets ---


@kinds
@pytest.mark.parametrize("exact", [False, True])
@given(seed=seeds)
def test_minimums_are_met_whenever_any_set_meets_them(kind, exact, seed):
    problem, least, sets, meets = asked(seed, kind)
    traversal = hra.LevelShares(least=least, level=None, spend_all=exact)
    if not meets.any():
        with pytest.raises(InfeasibleShares):
            traversal.solve(problem)
        return
    solution = traversal.solve(problem)
    assert meets[(sets == solution.selected).all(axis=1)].all()
    assert (sets == solution.selected).all(axis=1).any(), "valid and within the budget"
    gain, best = solution.selected @ problem.gain, (sets[meets] @ problem.gain).max()
    assert gain <= best * (1 + 1e-12) + 1e-12
    assert best <= bound_of(problem, solution) * (1 + 1e-12)


@kinds
def test_the_best_of_all_sets_is_missed_by_little_on_average(kind):
    lost = []
    for seed in range(100):
        problem, least, sets, meets = asked(seed, kind)
        if meets.any():
            best = (sets[meets] @ problem.gain).max()
            found = hra.LevelShares(least=least, level=None).solve(problem).selected @ problem.gain
            lost.append((best - found) / best if best else 0.0)
    assert len(lost) > 60
    assert np.mean(lost) < (0.015 if kind in FORESTS else 0.03)


@kinds
@given(seed=seeds)
def test_what_a_refusal_calls_possible_is_at_least_what_any_set_has(kind, seed):
    problem, least, sets, _ = asked(seed, kind)
    least = {level: amount + 2 for level, amount in least.items()}
    try:
        hra.LevelShares(least=least, level=None).solve(problem)
    except InfeasibleShares as error:
        amount = amounts(problem.hierarchy, sets, walked_levels(problem.hierarchy), list(least))
        assert not (amount >= list(least.values())).all(axis=1).any()
        alone = re.search(r"level (\d+) needs ([\d.]+), and at most ([\d.]+) are", error.what)
        if alone:
            most = amount[:, list(least).index(int(alone[1]))].max()
            assert most <= float(alone[3]) < float(alone[2]) >= least[int(alone[1])]
        together = re.search(r"levels (.*) need (.*), and at most ([\d.]+) % of each", error.what)
        if together:
            columns = [list(least).index(int(level)) for level in together[1].split(", ")]
            needed = np.array([float(each) for each in together[2].split(", ")])
            assert (amount[:, columns] / needed).min(axis=1).max() <= float(together[3]) / 100


@pytest.mark.parametrize("seed", range(15))
def test_exact_counts_are_met_where_the_minimums_allow(seed):
    rng = np.random.default_rng(seed)
    parent = random_parents(rng, 11, 1)
    hierarchy = Hierarchy.tree(parent, np.ones(11), mode="child", order=rng.random(11))
    values = np.where(rng.random(11) < 0.5, rng.random(11), 0)
    level, closed = depths(parent), closed_sets(hierarchy)
    for budget in range(1, int(hierarchy.total_cost) + 1):
        sets = closed[1 + closed @ hierarchy.cost <= budget]
        least = {1: float(rng.integers(0, 3)), int(level.max()): float(rng.integers(0, 3))}
        meets = (amounts(hierarchy, sets, level, list(least)) >= list(least.values())).all(axis=1)
        if meets.any():
            traversal = hra.LevelShares(least=least, level=None, spend_all=True)
            allocation = allocate(hierarchy, values, budget, traversal, "gain")
            assert allocation.cost == 1 + (sets[meets] @ hierarchy.cost).max()


# ---- against integer programming ---


# ---- what composes ---


PYRAMID = Hierarchy.tree(np.r_[-1, np.arange(84) // 4], np.ones(85), mode="child", order=np.arange(85.0))
LEVEL = depths(PYRAMID.node_parent)  # pyright: ignore[reportArgumentType]
VALUES = np.random.default_rng(1).random(85) * 4.0**-LEVEL


def per_level(allocation: hra.Allocation) -> list[int]:
    return np.bincount(LEVEL[allocation.cut], minlength=4).tolist()


def plain(traversal: hra.Traversal) -> Plain:
    return Plain(PYRAMID, Table(kind="gain"), traversal)


def test_what_the_hull_meets_by_itself_stays_its_answer():
    hull = plain(hra.Hull(spend_all=True)).allocate(VALUES, 30)
    least = dict(enumerate(per_level(hull)))
    same = plain(hra.LevelShares(least=least, level=None, spend_all=True)).allocate(VALUES, 30)
    assert (same.selected == hull.selected).all()
    assert same.upper_bound == hull.upper_bound


def test_a_share_takes_from_where_it_costs_least():
    hull = plain(hra.Hull(spend_all=True)).allocate(VALUES, 30)
    shared = plain(hra.LevelShares({2: 0.1, 3: 0.8}, level=None, spend_all=True)).allocate(VALUES, 30)
    assert per_level(shared)[3] >= 24 > per_level(hull)[3] and per_level(shared)[2] >= 3
    assert shared.cost == 30
    assert hull.gain > shared.gain >= shared.upper_bound * 0.95
    assert shared.upper_bound < hull.upper_bound


def test_the_larger_of_share_and_absolute_minimum_counts():
    for shares, least in (({3: 0.1}, {3: 18.0}), ({3: 0.6}, {3: 2.0})):
        assert per_level(plain(hra.LevelShares(shares, least, level=None)).allocate(VALUES, 30))[3] >= 18


def test_a_share_of_more_than_full_detail_is_one_of_full_detail():
    traversal = hra.LevelShares({2: 0.2}, level=None)
    allocation = plain(traversal).allocate(VALUES, np.inf)
    assert per_level(allocation)[2] == 13, "a fifth of the 64 finest nodes, rounded up"


def test_shares_do_not_ask_for_more_by_rounding():
    flat = Hierarchy.flat(np.ones(100), attributes={"level": np.r_[np.zeros(7, int), np.ones(93, int)]})
    assert 0.07 * 100 > 7
    allocation = allocate(flat, np.arange(100.0), 100, hra.LevelShares({0: 0.07, 1: 0.93}), "gain")
    assert allocation.cost == 100


@pytest.mark.parametrize("unit", [0.1, 0.7, 1 / 3])
def test_fractional_costs_meet_minimums_up_to_rounding(unit):
    flat = Hierarchy.flat(np.full(20, unit), attributes={"level": np.arange(20) % 2})
    for count in range(1, 11):
        # Products of doubles may round up to a little more than so many nodes cost.
        traversal = hra.LevelShares(least={0: np.nextafter(count * unit, 0)})
        allocation = allocate(flat, np.arange(20.0) % 2, np.full(10, unit).sum(), traversal, "gain")
        assert (allocation.cut % 2 == 0).sum() == count


def test_pinned_nodes_count_towards_their_level():
    finest = np.flatnonzero(LEVEL == 3)[-6:]
    traversal = hra.LevelShares(least={3: 6, 1: 2}, level=None)
    allocation = plain(traversal).allocate(VALUES, 30, pinned=finest)
    assert np.isin(finest, allocation.cut).all()
    assert per_level(allocation)[1] >= 2
    sets = {tuple(plain(traversal).allocate(VALUES, 30, pinned=finest).cut) for _ in range(2)}
    assert len(sets) == 1


@kinds
@given(seed=seeds)
def test_pinned_and_minimums_together_against_all_sets(kind, seed):
    problem, least, sets, _ = asked(seed, kind)
    hierarchy, values, rng = case(kind, seed)
    assert hierarchy.cost.tolist() == problem.hierarchy.cost.tolist()
    adding = np.flatnonzero(hierarchy.added_by >= 0)
    if not adding.size:
        return
    node = int(rng.choice(adding))
    sets = sets[sets[:, hierarchy.added_by[node]]]
    enough = amounts(hierarchy, sets, walked_levels(hierarchy), list(least)) >= list(least.values())
    meets = np.array([bool(row.all()) for row in enough])
    allocator = Plain(hierarchy, Table(values, kind="gain"), hra.LevelShares(least=least, level=None))
    if meets.any():
        allocation = allocator.allocate(None, problem.budget, pinned=[node])
        best = (sets[meets] @ allocation.problem.gain).max()
        assert meets[(sets == allocation.selected).all(axis=1)].all()
        assert allocation.gain <= best + 1e-9 <= allocation.upper_bound + 2e-9
    else:
        with pytest.raises(HraError):
            allocator.allocate(None, problem.budget, pinned=[node])


def test_hysteresis_holds_the_minimums_too():
    rng, previous = np.random.default_rng(0), None
    coherent = plain(hra.Coherent(hra.LevelShares({2: 0.3, 3: 0.3}, level=None), hysteresis=0.3))
    for _ in range(8):
        previous = coherent.allocate(VALUES * rng.random(85), 30, previous=previous)
        assert per_level(previous)[2] >= 9 and per_level(previous)[3] >= 9


# ---- levels ---


def test_levels_are_those_of_the_attribute():
    flat = Hierarchy.flat(np.ones(6), attributes={"level": [5, 5, 5, -1, -1, -1], "band": [0, 1, 0, 1, 0, 1]})
    values = [6.0, 5, 4, 3, 2, 1]
    assert allocate(flat, values, 3, hra.LevelShares(least={-1: 2}), "gain").cut.tolist() == [0, 3, 4]
    assert allocate(flat, values, 3, hra.LevelShares(least={1: 2}, level="band"), "gain").cut.tolist() == [0, 1, 3]


def test_a_missing_or_unusable_attribute_is_refused():
    with pytest.raises(HierarchyError, match="level=None"):
        plain(hra.LevelShares({0: 0.1})).allocate(VALUES, 30)
    for level in (np.zeros(2), np.zeros((2, 2), int)):
        with pytest.raises(ArrayError, match="one integer per node"):
            allocate(Hierarchy.flat([1, 1], attributes={"level": level}), [1, 2], 1, hra.LevelShares({0: 0.1}))


# ---- refusals ---


def test_a_level_that_does_not_have_that_many_nodes():
    with pytest.raises(InfeasibleShares, match="level 1 needs 6, and at most 4 are possible within 30 units") as caught:
        plain(hra.LevelShares({1: 0.2}, level=None)).allocate(VALUES, 30)
    assert "level 1" in caught.value.where and "lower" in caught.value.fix
    with pytest.raises(InfeasibleShares, match="level 9 needs 3, and at most 0"):
        plain(hra.LevelShares({9: 0.1}, level=None)).allocate(VALUES, 30)


def test_a_level_that_the_budget_does_not_reach():
    chain = Hierarchy.chains([4], [1, 2, 4, 8])
    with pytest.raises(InfeasibleShares, match="level 3 needs 8"):
        allocate(chain, np.ones(4), 14, hra.LevelShares(least={3: 8}, level=None), "gain")
    assert allocate(chain, np.ones(4), 15, hra.LevelShares(least={3: 8}, level=None), "gain").cost == 15


def test_minimums_that_do_not_fit_together():
    with pytest.raises(InfeasibleShares, match=r"levels 2, 3 need 16, 20, and at most 8\d.* % of each"):
        plain(hra.LevelShares(least={2: 16, 3: 20}, level=None)).allocate(VALUES, 30)


def test_minimums_that_only_parts_of_refinements_would_meet():
    flat = Hierarchy.flat([3, 2])
    with pytest.raises(InfeasibleShares, match="not divisible"):
        allocate(flat, [1, 1], 4, hra.LevelShares(least={0: 4}, level=None), "gain")


@pytest.mark.parametrize(
    "options",
    [
        {"shares": {0: 1.1}},
        {"shares": {0: -0.1}},
        {"shares": {0: float("nan")}},
        {"shares": {0: True}},
        {"shares": {0: "a"}},
        {"shares": {0.5: 0.1}},
        {"shares": {True: 0.1}},
        {"shares": {0: 0.6, 1: 0.6}},
        {"shares": [0.1, 0.2]},
        {"least": {0: -1}},
        {"least": {0: float("inf")}},
    ],
)
def test_bad_options_are_refused(options):
    with pytest.raises(HraError, match=r"share|minimum|level|least"):
        hra.LevelShares(**options)
