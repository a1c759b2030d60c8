"""The exact traversal against enumeration, a table of all costs, and integer programming."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

import hra
from hra.errors import HraError
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from hra.traversals.exact import Exact
from tests.helpers.allocators import Plain, Table, allocate, problem_of
from tests.helpers.hierarchies import KINDS, case, random_dag, random_parents
from tests.helpers.instances import instances
from tests.helpers.rational import Exactly
from tests.helpers.references import affordable_sets, best_gain, bound_of

seeds = st.integers(0, 2**32 - 1)
kinds = pytest.mark.parametrize("kind", KINDS)


def random_budget(rng: np.random.Generator, hierarchy: Hierarchy) -> float:
    return hierarchy.base_cost + float(rng.integers(0, int(hierarchy.cost.sum()) + 2))


def forest(rng: np.random.Generator, size: int, largest_cost: int = 9) -> Hierarchy:
    """Every node is one refinement; costs from 0 on."""
    edges = [(p, r) for r, p in enumerate(random_parents(rng, size)) if p >= 0]
    return Hierarchy.dag(rng.integers(0, largest_cost + 1, size), np.array(edges))


def gain_by_table(parent: np.ndarray, gain: np.ndarray, cost: np.ndarray, capacity: int) -> float:
    """Most gain of a forest: a table over all capacities per refinement, children merged one by one."""
    size = parent.size
    inside = [np.zeros(capacity + 1) for _ in range(size + 1)]  # the last one stands above the roots
    for r in range(size - 1, -1, -1):
        taken = np.full(capacity + 1, -np.inf)
        whole = int(cost[r])
        if whole <= capacity:
            taken[whole:] = inside[r][: capacity + 1 - whole] + gain[r]
        best = np.maximum(np.zeros(capacity + 1), taken)
        above = inside[parent[r]]
        inside[parent[r]] = np.array([(above[: w + 1] + best[w::-1]).max() for w in range(capacity + 1)])
    return float(inside[-1][capacity])


def gain_by_integer_program(problem: Problem) -> float:
    """Most gain by HiGHS; its tolerances do not matter where all gains are whole."""
    hierarchy, edges = problem.hierarchy, problem.hierarchy.edges
    row, size = np.arange(len(edges)), len(hierarchy)
    entries = np.r_[np.ones(len(edges)), -np.ones(len(edges)), hierarchy.cost]
    rows = np.r_[row, row, np.full(size, len(edges))]
    matrix = coo_array((entries, (rows, np.r_[edges[:, 1], edges[:, 0], np.arange(size)])), (len(edges) + 1, size))
    limits = LinearConstraint(matrix.tocsr(), -np.inf, np.r_[np.zeros(len(edges)), problem.capacity])
    result = milp(
        -problem.gain, constraints=limits, integrality=np.ones(size), bounds=Bounds(0, 1), options={"mip_rel_gap": 0}
    )
    assert result.success, result.message
    return float(problem.gain[np.round(result.x).astype(bool)].sum())


def check(problem: Problem, traversal: Exact, optimum: float) -> None:
    solution = traversal.solve(problem)
    gain = problem.gain[solution.selected].sum()
    assert problem.hierarchy.is_valid(solution.selected)
    assert problem.cost[solution.selected].sum() <= problem.capacity
    assert gain == pytest.approx(optimum, rel=1e-9)
    assert bound_of(problem, solution) == pytest.approx(gain, rel=1e-12)


@kinds
@given(seed=seeds)
def test_the_best_of_all_sets_is_found_and_proven(kind, seed):
    hierarchy, values, rng = case(kind, seed, 14)
    budget = random_budget(rng, hierarchy)
    allocation = allocate(hierarchy, values, budget, Exact(), "gain")
    assert allocation.gain == pytest.approx(best_gain(allocation.problem), rel=1e-9)
    assert allocation.status == "optimal"
    assert allocation.gain > 0 or allocation.shortfall == 0


@kinds
@given(seed=seeds)
def test_costs_need_not_be_whole(kind, seed):
    hierarchy, _, rng = case(kind, seed, 12)
    cost = rng.random(len(hierarchy)) * rng.integers(0, 2, len(hierarchy)) + rng.random()
    fractional = Hierarchy.dag(cost, hierarchy.edges)
    gain = rng.random(len(hierarchy))
    problem = problem_of(fractional, gain, "gain", budget=float(rng.random() * cost.sum()))
    check(problem, Exact(), best_gain(problem))


@pytest.mark.parametrize(
    ("hierarchy", "gains", "budget"),
    [
        (Hierarchy.flat([4, 3, 3, 2]), [1.0, 1.0, 1.0, 0.0], 0),
        (Hierarchy.flat([1 / 3, 0.1, 0.7]), [0.3, 0.1, 0.7], 0),
        (Hierarchy.tree([-1, 0], [1.6363739166412, 3 / 7], mode="add"), [0.0, 0.868], 1.6363739166412),
        (Hierarchy.flat([1e14 / 3, 1e-9, 1e-3]), [3.0, 1.0, 1e6], 5e-10),
        (Hierarchy.tree([-1, 0, 0, 1, 1, 3, 3], [2, 3, 2, 1, 2, 0, 0]), [0.0, 0.5, 0.4, 0.8, 0.3, 0.1, 0.1], 2),
        (Hierarchy.tree([-1, 0, 0, 0], [2, 2, 2, 2], mode="child"), [0.0, 0.3, 0.5, 0.1], 2),
        (Hierarchy.flat([1, 1000]), [1e-9, 1e5], 1),
    ],
)
def test_nothing_that_cannot_be_paid_is_a_part_of_the_bound(hierarchy, gains, budget):
    for traversal in (hra.Hull(), Exact()):
        allocation = hra.solve(hierarchy, budget, gains=gains, traversal=traversal)
        assert allocation.gain == Exactly.of(allocation.problem).best()
        assert allocation.shortfall <= 1e-14 * allocation.gain and repr(allocation).endswith("the best possible")


@given(instances("uneven costs") | instances("shrinking") | instances("fractional"))
def test_a_proof_that_nothing_is_missing_agrees_with_enumeration(instance):
    exactly = Exactly.of(instance.problem)
    best = exactly.best()
    assert best is not None
    for traversal in (hra.Hull(), Exact()):
        allocation = instance.allocate(traversal)
        assert best <= exactly.gained(allocation.selected) + Fraction(allocation.shortfall)
        if best == 0 and instance.hierarchy.units.exact and instance.hierarchy.parent is not None:
            assert allocation.shortfall == allocation.gap == 0


@given(seed=seeds, tenths=st.integers(0, 30))
def test_rounding_of_fractional_costs_does_not_hide_what_just_fits(seed, tenths):
    rng = np.random.default_rng(seed)
    size = 10
    whole = rng.integers(1, 6, size)
    edges = np.array([(p, r) for r, p in enumerate(random_parents(rng, size)) if p >= 0])
    gain = rng.random(size)
    exactly = problem_of(Hierarchy.dag(whole, edges), gain, "gain", budget=float(tenths))
    rounded = problem_of(Hierarchy.dag(whole / 10, edges), gain, "gain", budget=tenths / 10)
    check(rounded, Exact(), best_gain(exactly))


def test_a_sum_of_fractions_that_rounds_up_still_fits():
    problem = problem_of(Hierarchy.flat([0.1, 0.2, 0.3]), [1.0, 1.0, 0.5], "gain", budget=0.3)
    check(problem, Exact(), 2.0)


@pytest.mark.parametrize("seed", range(12))
def test_forests_agree_with_a_table_over_all_capacities(seed):
    rng = np.random.default_rng(seed)
    hierarchy = forest(rng, 150)
    gain = rng.lognormal(sigma=rng.uniform(0.1, 2), size=len(hierarchy))
    capacity = int(hierarchy.cost.sum() * rng.uniform(0.02, 0.9))
    problem = problem_of(hierarchy, gain, "gain", budget=capacity)
    assert hierarchy.parent is not None
    check(problem, Exact(), gain_by_table(hierarchy.parent, problem.gain, hierarchy.cost, capacity))


@pytest.mark.parametrize("make", [lambda rng: forest(rng, 200, 1000), lambda rng: random_dag(rng, 30)])
@pytest.mark.parametrize("seed", range(6))
def test_forests_and_dags_agree_with_integer_programming(make, seed):
    rng = np.random.default_rng(seed)
    hierarchy = make(rng)
    gain = rng.integers(0, 1000, len(hierarchy)).astype(float)
    problem = problem_of(hierarchy, gain, "gain", budget=float(int(hierarchy.cost.sum() * rng.uniform(0.1, 0.6))))
    check(problem, Exact(), gain_by_integer_program(problem))


@given(seed=seeds)
def test_gains_that_are_proportional_to_costs_leave_the_relaxation_no_clue(seed):
    rng = np.random.default_rng(seed)
    hierarchy = forest(rng, 40, 50)
    capacity = int(hierarchy.cost.sum() * rng.uniform(0.1, 0.9))
    problem = problem_of(hierarchy, hierarchy.node_cost, "gain", budget=capacity)
    assert hierarchy.parent is not None
    check(problem, Exact(), gain_by_table(hierarchy.parent, problem.gain, hierarchy.cost, capacity))


@kinds
@given(seed=seeds, max_states=st.integers(1, 60))
def test_a_search_that_is_given_up_leaves_a_valid_certificate(kind, seed, max_states):
    hierarchy, values, rng = case(kind, seed, 14)
    budget = random_budget(rng, hierarchy)
    allocation = allocate(hierarchy, values, budget, Exact(max_states=max_states), "gain")
    optimum, hull = best_gain(allocation.problem), allocate(hierarchy, values, budget, hra.Hull(), "gain")
    assert allocation.cost <= budget
    assert hull.gain * (1 - 1e-12) <= allocation.gain <= optimum * (1 + 1e-12)
    assert optimum * (1 - 1e-12) <= allocation.upper_bound <= hull.upper_bound * (1 + 1e-12)
    if allocation.status == "optimal":
        assert allocation.gain == pytest.approx(optimum, rel=1e-9)


def test_a_search_that_is_given_up_is_not_called_optimal():
    rng = np.random.default_rng(0)
    hierarchy = Hierarchy.flat(rng.integers(1_000_000, 2_000_000, 60))
    allocation = allocate(hierarchy, hierarchy.cost, 30_000_000, Exact(max_states=1000), "gain")
    assert allocation.status == "certified"
    assert 0 < allocation.gap < 0.1


@kinds
@given(seed=seeds)
def test_more_budget_never_gives_less_gain(kind, seed):
    hierarchy, values, rng = case(kind, seed, 14)
    budgets = np.sort([random_budget(rng, hierarchy) for _ in range(6)])
    gains = [allocate(hierarchy, values, budget, Exact(), "gain").gain for budget in budgets]
    assert all(a <= b * (1 + 1e-12) for a, b in pairwise(gains))


@kinds
@given(seed=seeds)
def test_exact_also_takes_what_gains_nothing_while_it_fits(kind, seed):
    hierarchy, values, rng = case(kind, seed, 14)
    budget = random_budget(rng, hierarchy)
    allocation = allocate(hierarchy, values, budget, Exact(spend_all=True), "gain")
    assert allocation.gain == pytest.approx(best_gain(allocation.problem), rel=1e-9)
    ready = ~allocation.selected & (hierarchy.cost <= budget - allocation.cost)
    for before, after in hierarchy.edges:
        ready[after] &= allocation.selected[before]
    assert not ready.any()


@kinds
@given(seed=seeds)
def test_pinned_refinements_are_taken_and_the_rest_is_best(kind, seed):
    hierarchy, values, rng = case(kind, seed, 12)
    pinned = rng.choice(hierarchy.node_cost.size, 2)
    ample = problem_of(hierarchy, values, "gain")
    by = hierarchy.added_by[pinned]
    budget = hierarchy.base_cost + float(hierarchy.cost.sum())  # covers whatever is pinned
    budget -= float(rng.integers(0, 1 + int(hierarchy.cost.sum() / 2)))
    sets = affordable_sets(problem_of(hierarchy, values, "gain", budget))
    sets = sets[sets[:, by[by >= 0]].all(axis=1)]
    if sets.size == 0:
        return
    allocation = Plain(hierarchy, Table(values, kind="gain"), Exact()).allocate(None, budget, pinned=pinned)
    assert allocation.selected[by[by >= 0]].all()
    assert ample.gain[allocation.selected].sum() == pytest.approx((sets @ ample.gain).max(), rel=1e-9)


@given(seed=seeds)
def test_the_numbering_of_nodes_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    parent, size = random_parents(rng, 40), 40
    cost, gain = rng.integers(0, 9, size), rng.integers(0, 20, size).astype(float)
    name = rng.permutation(size)
    renamed = np.empty(size, int)
    renamed[name] = np.where(parent >= 0, name[parent], -1)
    again_cost, again_gain = np.empty_like(cost), np.empty_like(gain)
    again_cost[name], again_gain[name] = cost, gain
    budget = float(cost.sum() // 3 + cost[parent < 0].sum())
    first = allocate(Hierarchy.tree(parent, cost, mode="add"), gain, budget, Exact(), "gain")
    second = allocate(Hierarchy.tree(renamed, again_cost, mode="add"), again_gain, budget, Exact(), "gain")
    assert first.gain == second.gain
    assert first.upper_bound == second.upper_bound


def test_the_same_input_gives_the_same_set():
    rng = np.random.default_rng(1)
    hierarchy = forest(rng, 300)
    gain = rng.integers(0, 5, len(hierarchy)).astype(float)
    first, second = (allocate(hierarchy, gain, 400, Exact(), "gain").selected for _ in range(2))
    assert (first == second).all()


@pytest.mark.parametrize("kind", ["chains", "flat", "dag"])
@pytest.mark.parametrize("gain", [0.0, 1.0])
@pytest.mark.parametrize("cost", [0, 2])
@pytest.mark.parametrize("budget", [0, 1, 5, 10_000, np.inf])
def test_equal_gains_and_costs_none_at_all_and_any_budget(kind, gain, cost, budget):
    costs, gains = np.full(9, cost), np.full(9, gain)
    edges = np.array([(0, 2), (1, 2), (2, 3), (2, 4), (3, 5), (4, 5)])
    hierarchy = {
        "chains": lambda: Hierarchy.dag(costs, np.array([(r, r + 1) for r in range(8)])),
        "flat": lambda: Hierarchy.flat(costs),
        "dag": lambda: Hierarchy.dag(costs, edges),
    }[kind]()
    allocation = allocate(hierarchy, gains, budget, Exact(), "gain")
    assert allocation.gain == gain * (9 if cost == 0 else min(9, budget // cost))
    assert allocation.status == "optimal"


def test_what_is_left_of_a_step_is_not_held_against_the_proof():
    # Every split costs three: the two tokens above a multiple of three gain nothing, whatever their price.
    parent = (np.arange(1 + 4 * 85) - 1) // 4
    parent[0] = -1
    values = np.random.default_rng(0).random(parent.size)
    hierarchy = Hierarchy.tree(parent, np.ones(parent.size))
    gain = values[: len(hierarchy)]
    tight = Exact(max_states=500)
    problems = [Problem(hierarchy, gain, 0.0, budget, "error", True, lambda: gain) for budget in (91.0, 93.0)]
    first, second = (tight.solve(problem) for problem in problems)
    bounds = [bound_of(problem, solution) for problem, solution in zip(problems, (first, second), strict=True)]
    assert bounds[0] == bounds[1] == pytest.approx(gain[second.selected].sum(), rel=1e-12)


def test_a_million_states_are_more_than_a_large_tree_needs():
    rng = np.random.default_rng(0)
    parent = (np.arange(20_000) - 1) // 4
    parent[0] = -1
    hierarchy = Hierarchy.tree(parent, rng.integers(1, 11, parent.size), mode="add")
    gain = rng.lognormal(sigma=1.5, size=parent.size)
    allocation = allocate(hierarchy, gain, 10_000, Exact(max_states=2**20), "gain")
    assert allocation.status == "optimal"


def test_no_refinements_at_all():
    allocation = allocate(Hierarchy.tree([-1, -1], [1, 1]), [1.0, 2.0], 2, Exact())
    assert allocation.status == "optimal"
    assert allocation.gain == 0


def test_states_must_be_allowed():
    with pytest.raises(HraError, match="max_states"):
        Exact(max_states=0)
