"""Hull slopes and bounds against enumeration and linear programs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.model.hierarchy import Hierarchy
from hra.solvers.forest.bracket import hull_point
from hra.solvers.forest.pava import blocks, hull_slopes, relaxed_gain
from hra.solvers.relaxation import relaxation, sampled_price
from hra.solvers.selection import select_threshold
from hra.traversals.hull import Hull
from tests.helpers.allocators import problem_of
from tests.helpers.hierarchies import FORESTS, case, random_parents
from tests.helpers.references import bound_of, closed_sets, linear_bound, smallest_closure

seeds = st.integers(0, 2**32 - 1)


def slopes_of(hierarchy: Hierarchy, gain: np.ndarray) -> np.ndarray:
    assert hierarchy.parent is not None
    slope = hull_slopes(hierarchy.first_child, gain, hierarchy.slope_cost)
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


def pooled_plainly(hierarchy: Hierarchy, gain: np.ndarray) -> np.ndarray:
    """Hull slopes without heaps: look through all blocks that hang from a block for the one to pool next."""
    first_child, cost = hierarchy.first_child, hierarchy.slope_cost
    blocks = {}
    for v in range(len(hierarchy) - 1, -1, -1):
        total_gain, total_cost, members = gain[v], cost[v], [v]
        below = list(range(first_child[v], first_child[v + 1]))
        while below and (best := max(below, key=lambda u: blocks[u][0] / blocks[u][1])) >= 0:
            if blocks[best][0] / blocks[best][1] <= total_gain / total_cost:
                break
            below.remove(best)
            more_gain, more_cost, more, beneath = blocks.pop(best)
            total_gain, total_cost = total_gain + more_gain, total_cost + more_cost
            members, below = members + more, below + beneath
        blocks[v] = total_gain, total_cost, members, below
    slope = np.empty(len(hierarchy))
    for block_gain, block_cost, members, _ in blocks.values():
        slope[members] = block_gain / block_cost
    return slope


def node_parents(rng: np.random.Generator, size: int) -> dict[str, np.ndarray]:
    nodes = np.arange(size)
    return {
        "quadtree": (nodes - 1) // 4,
        "binary": (nodes - 1) // 2,
        "star": np.where(nodes, 0, -1),
        "chain": nodes - 1,
        "chains": np.where(nodes % 30, nodes - 1, -1),
        "random": random_parents(rng, size),
        "chain of stars": np.where(nodes % 100, nodes - nodes % 100, nodes - 100).clip(-1),
    }


@pytest.mark.parametrize("name", node_parents(np.random.default_rng(0), 1))
def test_large_forests_are_pooled_as_without_heaps(name):
    rng = np.random.default_rng(1)
    parent = node_parents(rng, 9_000)[name]
    hierarchy = Hierarchy.tree(np.r_[-1, parent + 1], np.r_[0, rng.integers(1, 5, parent.size)], mode="add")
    gain = rng.integers(0, 9, len(hierarchy)) * np.exp(rng.normal(size=len(hierarchy)))
    if name in ("star", "chain of stars"):
        gain[hierarchy.first_child[:-1] < hierarchy.first_child[1:]] *= 100  # or all of a star is pooled, one by one
    assert hull_slopes(hierarchy.first_child, gain, hierarchy.slope_cost) == pytest.approx(
        pooled_plainly(hierarchy, gain), rel=1e-12
    )


@pytest.mark.parametrize("name", node_parents(np.random.default_rng(0), 1))
@pytest.mark.parametrize("size", [1, 2, 4095, 4096, 9_000, 50_000])
def test_blocks_cover_every_refinement_once_children_first(name, size):
    parent = node_parents(np.random.default_rng(2), size)[name]
    hierarchy = Hierarchy.tree(np.r_[-1, parent + 1], np.ones(size + 1), mode="add")
    order = np.concatenate([np.arange(begin, end)[::-1] for begin, end in blocks(hierarchy.first_child)])
    place = np.empty(size, int)
    place[order] = np.arange(size)
    assert np.sort(order).tolist() == list(range(size))
    above, below = hierarchy.edges.T
    assert (place[below] < place[above]).all()


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


@pytest.mark.parametrize("kind", FORESTS)
@given(seed=seeds, price=st.floats(0, 5))
def test_the_relaxed_gain_is_the_best_over_all_sets(kind, seed, price):
    hierarchy, values, _ = case(kind, seed)
    gain = problem_of(hierarchy, values, "gain").gain
    best = (closed_sets(hierarchy) @ (gain - price * hierarchy.cost)).max()
    scratch = np.empty(len(hierarchy))
    found = relaxed_gain(hierarchy.first_child, gain, hierarchy.cost, price, scratch)
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
    point = hull_point(problem, whole.price * np.exp(error), 1.05)
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
