"""Hull slopes and bounds against enumeration and linear programs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.model.hierarchy import Hierarchy
from hra.solvers.forest.pava import hull_slopes
from hra.solvers.relaxation import relaxation, sampled_price
from hra.solvers.selection import select_threshold
from hra.traversals.hull import Hull
from tests.helpers.allocators import problem_of
from tests.helpers.hierarchies import FORESTS, case, random_budgets, random_parents
from tests.helpers.references import bound_of, linear_bound, smallest_closure
from tests.helpers.relaxation_cases import node_parents, seeds


def slopes_of(hierarchy: Hierarchy, gain: np.ndarray) -> np.ndarray:
    assert hierarchy.parent is not None
    slope = hull_slopes(hierarchy.first_child, gain, hierarchy.slope_cost)
    return np.where(slope > 1e15, np.inf, slope)  # free blocks


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


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_the_price_of_a_sample_is_near_the_true_one(share):
    rng = np.random.default_rng(3)
    for name, parent in node_parents(rng, 200_000).items():
        if name in ("star", "chain", "random", "chain of stars"):
            continue
        hierarchy = Hierarchy.tree(np.r_[-1, parent + 1], np.r_[0, rng.integers(1, 5, parent.size)], mode="add")
        gain = np.exp(rng.normal(size=len(hierarchy)))
        problem = problem_of(hierarchy, np.r_[0, gain], "gain", np.floor(share * hierarchy.total_cost))
        price = select_threshold(slopes_of(hierarchy, problem.gain), hierarchy.cost, problem.capacity)
        assert sampled_price(problem) == pytest.approx(price, rel=0.2)


def test_long_branches_are_not_sampled():
    hierarchy = Hierarchy.tree(np.arange(-1, 30_000), np.ones(30_001), mode="add")
    assert sampled_price(problem_of(hierarchy, np.ones(30_001), "gain", 100.0)) is None
    assert relaxation(problem_of(hierarchy, np.ones(30_001), "gain", 100.0)).upper_bound == pytest.approx(99)


@pytest.mark.parametrize("error", [0.5, 1.0, 1.9, 1e-6, 1e6])
def test_large_forests_do_not_depend_on_the_last_price(error):
    rng = np.random.default_rng(0)
    size = 30_000
    hierarchy = Hierarchy.tree((np.arange(size) - 1) // 4, rng.integers(1, 9, size), mode="add")
    gain = np.exp(rng.normal(size=size)) * 0.9 ** np.log2(1 + np.arange(size))
    problem = problem_of(hierarchy, gain, "gain", hierarchy.total_cost * 0.2)
    plain = Hull().solve(problem)
    warm = Hull().solve(replace(problem, price=plain.price * error))
    assert warm.price == pytest.approx(plain.price, rel=1e-12)
    assert bound_of(problem, warm) == pytest.approx(bound_of(problem, plain), rel=1e-12)
    slope = slopes_of(hierarchy, problem.gain)
    assert (warm.selected | (slope <= warm.price)).all(), "the hull point is part of the answer"
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


@pytest.mark.parametrize("kind", ["replace", "flat", "dag", "groups"])
@given(seed=seeds)
def test_the_relaxed_set_is_valid_and_fits(kind, seed):
    hierarchy, values, rng = case(kind, seed, 40)
    for budget in random_budgets(rng, hierarchy, 3):
        problem = problem_of(hierarchy, values, "gain", float(budget))
        relaxed = relaxation(problem)
        assert hierarchy.is_valid(relaxed.selected)
        assert hierarchy.cost[relaxed.selected].sum() <= problem.capacity
