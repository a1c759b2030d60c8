"""Hull slopes and bounds against enumeration and linear programs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.hierarchy import Hierarchy
from hra.traversals.bracket import hull_point
from hra.traversals.hull import Hull
from hra.traversals.pava import hull_slopes, relaxed_gain
from hra.traversals.relaxation import relaxation
from hra.traversals.split_flow import closure, surplus_bound
from tests.helpers.allocators import problem_of
from tests.helpers.hierarchies import FORESTS, case, random_dag, random_edges, random_groups, random_parents
from tests.helpers.references import best_gain, closed_sets, linear_bound, smallest_closure

seeds = st.integers(0, 2**32 - 1)


def slopes_of(hierarchy: Hierarchy, gain: np.ndarray) -> np.ndarray:
    assert hierarchy.parent is not None
    slope = hull_slopes(hierarchy.parent, hierarchy.first_child, gain, hierarchy.slope_cost)
    return np.where(slope > 1e15, np.inf, slope)  # free blocks


def random_budgets(rng: np.random.Generator, hierarchy: Hierarchy, count: int) -> np.ndarray:
    return hierarchy.base_cost + rng.integers(0, int(hierarchy.cost.sum()) + 1, count)


def probing_prices(slope: np.ndarray) -> np.ndarray:
    """Prices between all neighbouring finite slopes, below the least and above the largest."""
    levels = np.unique(np.r_[0.0, slope[np.isfinite(slope)]])
    return np.r_[(levels[1:] + levels[:-1]) / 2, levels[-1] + 1]


@pytest.mark.parametrize("kind", FORESTS)
@given(seed=seeds)
def test_a_slope_is_the_price_up_to_which_a_refinement_belongs_to_the_best_set(kind, seed):
    hierarchy, values, rng = case(kind, seed)
    gain = problem_of(hierarchy, values, "gain").gain
    slope = slopes_of(hierarchy, gain)
    for price in [*probing_prices(slope), *rng.random(5)]:
        assert ((slope > price) == smallest_closure(hierarchy, gain, price)).all()


@pytest.mark.parametrize("kind", FORESTS)
@given(seed=seeds)
def test_slopes_fall_from_coarse_to_fine_and_spread_the_whole_gain(kind, seed):
    hierarchy, values, _ = case(kind, seed, 60)
    gain, parent = problem_of(hierarchy, values, "gain").gain, hierarchy.parent
    assert parent is not None
    slope = slopes_of(hierarchy, gain)
    child = np.flatnonzero(parent >= 0)
    assert (slope[parent[child]] >= slope[child]).all()
    paid = np.isfinite(slope)
    assert (slope[paid] * hierarchy.cost[paid]).sum() == pytest.approx(gain[paid].sum(), rel=1e-9)


@given(cost=st.lists(st.integers(1, 60), min_size=2, max_size=12), ratio=st.floats(0.01, 10), seed=seeds)
def test_slopes_that_differ_by_rounding_only_still_fall(cost, ratio, seed):
    rng = np.random.default_rng(seed)
    parent = np.array([int(rng.integers(-1, i)) if i else -1 for i in range(len(cost))], np.int32)
    gain = np.array(cost) * ratio
    gain = np.nextafter(gain, rng.choice([0.0, 100.0], gain.size))
    hierarchy = Hierarchy.tree(np.r_[-1, parent + 1], np.r_[0, cost], mode="add")
    gain = gain[hierarchy.added_nodes[1] - 1]
    slope, parent = slopes_of(hierarchy, gain), hierarchy.parent
    assert parent is not None
    child = np.flatnonzero(parent >= 0)
    assert (slope[parent[child]] >= slope[child]).all()


def test_free_and_worthless_refinements_have_extreme_slopes():
    hierarchy = Hierarchy.dag([0, 0, 2, 1, 0, 0], [(2, 4), (3, 5)])
    slope = slopes_of(hierarchy, np.array([0.0, 3, 0, 0, 4, 0]))
    assert slope[1] > 1e15
    assert slope[[0, 2, 3, 4, 5]].tolist() == [0, 2, 0, 2, 0]


@pytest.mark.parametrize("kind", FORESTS)
@given(seed=seeds, price=st.floats(0, 5))
def test_the_relaxed_gain_is_the_best_over_all_sets(kind, seed, price):
    hierarchy, values, _ = case(kind, seed)
    gain = problem_of(hierarchy, values, "gain").gain
    best = (closed_sets(hierarchy) @ (gain - price * hierarchy.cost)).max()
    scratch = np.empty(len(hierarchy))
    found = relaxed_gain(hierarchy.parent, hierarchy.first_child, gain, hierarchy.cost, price, scratch)
    assert found == pytest.approx(best, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("kind", FORESTS)
@given(seed=seeds, error=st.floats(-1.5, 1.5))
def test_a_guessed_price_leads_to_the_hull_point_of_the_whole_forest(kind, seed, error):
    hierarchy, values, rng = case(kind, seed, 60)
    budget = float(random_budgets(rng, hierarchy, 1)[0])
    problem = problem_of(hierarchy, values * rng.random(values.size), "gain", budget)
    whole = relaxation(problem)
    if not 0 < whole.price < 1e15 or problem.capacity <= 0:
        return
    point = hull_point(problem, whole.price * np.exp(error))
    if point is None:
        assert abs(error) > 0.01, "a good guess is never lost"
        return
    assert point.price == pytest.approx(whole.price, rel=1e-12)
    assert (point.selected == whole.selected).all()
    assert not point.selected[point.undecided[point.slope <= point.price]].any()


@pytest.mark.parametrize("error", [0.5, 1.0, 1.9, 1e-6, 1e6])
def test_large_forests_do_not_depend_on_the_last_price(error):
    rng = np.random.default_rng(0)
    size = 30_000
    hierarchy = Hierarchy.tree((np.arange(size) - 1) // 4, rng.integers(1, 9, size), mode="add")
    gain = np.exp(rng.normal(size=size)) * 0.9 ** np.log2(1 + np.arange(size))
    problem = problem_of(hierarchy, gain, "gain", hierarchy.total_cost * 0.2)
    plain = Hull().solve(problem)
    warm = Hull().solve(replace(problem, price=plain.multiplier * error))
    assert warm.multiplier == pytest.approx(plain.multiplier, rel=1e-12)
    assert warm.upper_bound == pytest.approx(plain.upper_bound, rel=1e-12)
    slope = slopes_of(hierarchy, problem.gain)
    assert (warm.selected | (slope <= warm.multiplier)).all(), "the hull point is part of the answer"
    left = problem.capacity - hierarchy.cost[warm.selected].sum()
    ready = ~warm.selected & np.r_[warm.selected, True][hierarchy.parent]
    assert (hierarchy.cost[ready & (problem.gain > 0)] > left).all(), "nothing fits any more"


@pytest.mark.parametrize("kind", FORESTS)
@given(seed=seeds)
def test_the_bound_of_a_forest_is_the_optimum_of_the_linear_program(kind, seed):
    hierarchy, values, rng = case(kind, seed, 40)
    for budget in random_budgets(rng, hierarchy, 3):
        problem = problem_of(hierarchy, values, "gain", float(budget))
        assert relaxation(problem).upper_bound == pytest.approx(linear_bound(problem), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_bound_of_a_large_forest_is_the_optimum_of_the_linear_program(seed):
    rng = np.random.default_rng(seed)
    parent = random_parents(rng, 500)
    hierarchy = Hierarchy.tree(parent, rng.random(500) + 0.01, mode="add")
    budget = hierarchy.base_cost + rng.random() * hierarchy.cost.sum()
    problem = problem_of(hierarchy, rng.random(500) ** 4, "gain", budget)
    assert relaxation(problem).upper_bound == pytest.approx(linear_bound(problem), rel=1e-9)


def paid_dag(rng: np.random.Generator) -> Hierarchy:
    size = int(rng.integers(5, 50))
    return Hierarchy.dag(rng.integers(1, 6, size), random_edges(rng, size, 2 / size))


DAGS = {
    "paid": paid_dag,
    "with free refinements": lambda rng: random_dag(rng, int(rng.integers(5, 50))),
    "groups": lambda rng: random_groups(rng, int(rng.integers(5, 50))),
}


@pytest.mark.parametrize("name", DAGS)
@given(seed=seeds)
def test_the_bound_of_a_dag_is_within_one_percent_of_the_linear_program_and_never_below(name, seed):
    rng = np.random.default_rng(seed)
    hierarchy = DAGS[name](rng)
    values = rng.random(hierarchy.node_cost.size)
    for budget in random_budgets(rng, hierarchy, 2):
        problem = problem_of(hierarchy, values, "gain", float(budget))
        least = linear_bound(problem)
        assert least * (1 - 1e-9) <= relaxation(problem).upper_bound <= least * 1.01 + 1e-6


def test_a_free_refinement_behind_a_paid_one_keeps_the_bound_tight():
    # The paid refinement and the free one behind it are worth 2 per unit together, more than the paid one alone.
    hierarchy = Hierarchy.dag([0, 2, 0], [(0, 2), (1, 2)])
    problem = problem_of(hierarchy, [2, 2, 2], "gain", 0.0)
    assert best_gain(problem) == linear_bound(problem) == 2
    assert relaxation(problem).upper_bound == pytest.approx(2, rel=1e-2)


def test_a_cheap_refinement_behind_an_expensive_one_keeps_the_bound_tight():
    hierarchy = Hierarchy.dag([1e6, 1, 1, 1e7], [(0, 1), (0, 2), (1, 3), (2, 3)])
    problem = problem_of(hierarchy, [0, 1, 1, 0], "gain", 1e5)
    assert relaxation(problem).upper_bound == pytest.approx(linear_bound(problem), rel=1e-2)


@pytest.mark.parametrize("name", ["paid", "groups"])
@given(seed=seeds)
def test_nothing_can_be_gained_with_what_the_base_costs_where_nothing_is_free(name, seed):
    hierarchy = DAGS[name](np.random.default_rng(seed))
    values = np.ones(hierarchy.node_cost.size)
    if (hierarchy.cost > 0).all():
        assert relaxation(problem_of(hierarchy, values, "gain", hierarchy.base_cost)).upper_bound == 0


@given(seed=seeds, price=st.floats(0, 3))
def test_any_split_of_the_surplus_bounds_the_smallest_closure(seed, price):
    hierarchy, values, rng = case("dag", seed)
    gain = problem_of(hierarchy, values, "gain").gain
    offsets, predecessors = hierarchy.predecessors
    share = rng.random(predecessors.size)
    for r in range(len(hierarchy)):
        share[offsets[r] : offsets[r + 1]] /= max(share[offsets[r] : offsets[r + 1]].sum(), 1e-9)
    best = (closed_sets(hierarchy) @ (gain - price * hierarchy.cost)).max()
    surplus = np.empty(gain.size)
    assert surplus_bound(offsets, predecessors, gain, hierarchy.cost, price, share, surplus) >= best - 1e-9


@given(seed=seeds, price=st.floats(0.01, 3))
def test_the_set_of_a_closure_is_valid_and_its_bound_is_one(seed, price):
    hierarchy, values, _ = case("dag", seed)
    gain = problem_of(hierarchy, values, "gain").gain
    offsets, predecessors = hierarchy.predecessors
    share = 1 / np.repeat(np.diff(offsets), np.diff(offsets))
    selected = np.empty(gain.size, bool)
    bound = closure(offsets, predecessors, gain, hierarchy.cost, price, share, 60, selected)
    best = (closed_sets(hierarchy) @ (gain - price * hierarchy.cost)).max()
    assert hierarchy.is_valid(selected)
    value = (gain - price * hierarchy.cost)[selected].sum()
    assert value <= best + 1e-9
    assert best <= bound + 1e-9


@pytest.mark.parametrize("kind", ["replace", "flat", "dag", "groups"])
@given(seed=seeds)
def test_the_relaxed_set_is_valid_and_fits(kind, seed):
    hierarchy, values, rng = case(kind, seed, 40)
    for budget in random_budgets(rng, hierarchy, 3):
        problem = problem_of(hierarchy, values, "gain", float(budget))
        relaxed = relaxation(problem)
        assert hierarchy.is_valid(relaxed.selected)
        assert hierarchy.cost[relaxed.selected].sum() <= problem.capacity
