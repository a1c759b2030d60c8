"""Every traversal on every kind of hierarchy, against enumeration of all selections."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import hra
from hra.errors import HraError, MetricError
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from tests.helpers.allocators import allocate, problem_of
from tests.helpers.hierarchies import FORESTS, KINDS, case, random_parents
from tests.helpers.references import best_gain, least_peak
from tests.helpers.traversals import FILLING, TRAVERSALS

seeds = st.integers(0, 2**32 - 1)
kinds = pytest.mark.parametrize("kind", KINDS)


def random_budget(rng: np.random.Generator, hierarchy: Hierarchy) -> float:
    return hierarchy.base_cost + float(rng.integers(0, int(hierarchy.cost.sum()) + 2))


def ready(problem: Problem, selected: np.ndarray) -> np.ndarray:
    """Refinements that are not taken but all of whose predecessors are."""
    free = ~selected
    for before, after in problem.hierarchy.edges:
        free[after] &= selected[before]
    return free


@kinds
@given(seed=seeds)
def test_a_choice_is_valid_affordable_and_between_nothing_and_the_bound(kind, seed):
    hierarchy, values, rng = case(kind, seed)
    budget = random_budget(rng, hierarchy)
    optimum = best_gain(problem_of(hierarchy, values, "gain", budget))
    for name, traversal in TRAVERSALS.items():
        allocation = allocate(hierarchy, values, budget, traversal, "gain")
        chosen = set(np.flatnonzero(allocation.selected).tolist())
        assert all(before in chosen for before, after in hierarchy.edges.tolist() if after in chosen), name
        assert allocation.cost == hierarchy.node_cost[allocation.cut].sum() <= budget, name
        assert allocation.gain <= optimum * (1 + 1e-12), name
        assert optimum <= allocation.upper_bound * (1 + 1e-12), name
        assert 0 <= allocation.gap <= 1, name
        assert allocation.residual_gap >= 0, name


@kinds
@given(seed=seeds)
def test_an_optimal_status_is_true(kind, seed):
    hierarchy, values, rng = case(kind, seed)
    budget = random_budget(rng, hierarchy)
    optimum = best_gain(problem_of(hierarchy, values, "gain", budget))
    for traversal in TRAVERSALS.values():
        allocation = allocate(hierarchy, values, budget, traversal, "gain")
        if allocation.status == "optimal":
            assert allocation.gain == pytest.approx(optimum, rel=1e-9)


@kinds
@pytest.mark.parametrize("name", FILLING)
@given(seed=seeds)
def test_filling_leaves_nothing_that_fits_and_gains(kind, name, seed):
    hierarchy, values, rng = case(kind, seed)
    allocation = allocate(hierarchy, values, random_budget(rng, hierarchy), TRAVERSALS[name], "gain")
    problem = allocation.problem
    left = ready(problem, allocation.selected) & (hierarchy.cost <= allocation.budget - allocation.cost)
    assert not (left & (problem.gain > 0)).any()
    if name == "hull-exact":
        assert not left.any()


@kinds
@given(seed=seeds)
def test_an_ample_budget_takes_everything_that_gains(kind, seed):
    hierarchy, values, _ = case(kind, seed)
    for budget in (hierarchy.total_cost, hierarchy.total_cost + 0.5, np.inf):
        for name in ("hull", "hull-none", "hull-exact", "threshold"):
            allocation = allocate(hierarchy, values, budget, TRAVERSALS[name], "gain")
            assert allocation.gain == pytest.approx(allocation.problem.gain.sum(), rel=1e-12), name
            assert allocation.status == "optimal", name


@kinds
@given(seed=seeds)
def test_only_exact_takes_refinements_that_lead_to_no_gain(kind, seed):
    hierarchy, _, _ = case(kind, seed)
    nothing = np.zeros(hierarchy.node_cost.size)
    for budget in (hierarchy.base_cost, hierarchy.total_cost, np.inf):
        for name in ("hull", "hull-none", "best-first", "threshold"):
            assert not allocate(hierarchy, nothing, budget, TRAVERSALS[name], "gain").selected.any(), name
    assert allocate(hierarchy, nothing, np.inf, hra.Hull(spend_all=True), "gain").selected.all()


@given(seed=seeds, equal=st.booleans())
def test_child_by_child_with_exact_meets_every_count(seed, equal):
    rng = np.random.default_rng(seed)
    parent = random_parents(rng, int(rng.integers(1, 30)))
    hierarchy = Hierarchy.tree(parent, np.ones(parent.size), mode="child", cost_unit="tokens")
    values = np.ones(parent.size) if equal else rng.random(parent.size)
    for budget in range(int(hierarchy.base_cost), int(hierarchy.total_cost) + 3):
        allocation = allocate(hierarchy, values, budget, hra.Hull(spend_all=True), "gain")
        assert allocation.cut.size == min(budget, hierarchy.total_cost)


@kinds
@pytest.mark.parametrize("name", TRAVERSALS)
@given(seed=seeds)
def test_the_same_input_gives_the_same_choice(kind, name, seed):
    hierarchy, values, rng = case(kind, seed)
    budget = random_budget(rng, hierarchy)
    again, _, _ = case(kind, seed)
    first = allocate(hierarchy, values, budget, TRAVERSALS[name], "gain")
    second = allocate(again, values, budget, TRAVERSALS[name], "gain")
    assert (first.selected == second.selected).all()
    assert (first.gain, first.upper_bound, first.price) == (second.gain, second.upper_bound, second.price)


def permuted_tree(seed: int, ties: bool) -> tuple[Hierarchy, Hierarchy, np.ndarray, np.ndarray, float]:
    """A tree and the same tree numbered otherwise, their values (many equal if ``ties``), and a budget."""
    rng = np.random.default_rng(seed)
    parent = random_parents(rng, int(rng.integers(2, 40)))
    cost, place = rng.integers(0, 4 if ties else 9, parent.size), rng.permutation(parent.size)
    values = rng.integers(0, 4, parent.size).astype(float) if ties else rng.random(parent.size)
    other = np.empty_like(parent)
    other[place] = np.where(parent < 0, -1, place[parent])
    moved_cost, moved_values = np.empty_like(cost), np.empty_like(values)
    moved_cost[place], moved_values[place] = cost, values
    trees = (Hierarchy.tree(parent, cost, mode="add"), Hierarchy.tree(other, moved_cost, mode="add"))
    return *trees, values, moved_values, random_budget(rng, trees[0])


@pytest.mark.parametrize("name", TRAVERSALS)
@given(seed=seeds, ties=st.booleans())
@example(seed=106, ties=True)  # two leaves and a subtree tie, and two of the three fit
def test_the_numbering_of_the_nodes_does_not_matter(name, seed, ties):
    hierarchy, moved, values, moved_values, budget = permuted_tree(seed, ties)
    first = allocate(hierarchy, values, budget, TRAVERSALS[name], "gain")
    second = allocate(moved, moved_values, budget, TRAVERSALS[name], "gain")
    assert first.gain == pytest.approx(second.gain, rel=1e-12)
    assert first.upper_bound == pytest.approx(second.upper_bound, rel=1e-12)


@pytest.mark.parametrize("name", TRAVERSALS)
@given(seed=seeds)
def test_the_numbering_of_a_dag_does_not_matter(name, seed):
    rng = np.random.default_rng(seed)
    hierarchy, values, _ = case("dag", seed, 30)
    values = rng.random(values.size)
    graph_edges = np.stack([np.flatnonzero(hierarchy.added_by == r)[0] for r in hierarchy.edges.reshape(-1)] or [0])
    edges = graph_edges.reshape(-1, 2) if hierarchy.edges.size else np.empty((0, 2), int)
    place = rng.permutation(values.size)
    moved_cost, moved_values = np.empty(values.size), np.empty(values.size)
    moved_cost[place], moved_values[place] = hierarchy.node_cost, values
    moved = Hierarchy.dag(moved_cost, place[edges])
    budget = random_budget(rng, hierarchy)
    first = allocate(hierarchy, values, budget, TRAVERSALS[name], "gain")
    second = allocate(moved, moved_values, budget, TRAVERSALS[name], "gain")
    # On DAGs the bound is approached, not solved: only its quality may be asked for.
    assert first.gain == pytest.approx(second.gain, rel=1e-3)
    assert first.upper_bound == pytest.approx(second.upper_bound, rel=1e-2)


@kinds
@given(seed=seeds)
def test_more_budget_never_lowers_the_hull_point_or_the_bound(kind, seed):
    hierarchy, values, _ = case(kind, seed)
    gain = bound = 0.0
    for budget in np.arange(hierarchy.base_cost, hierarchy.total_cost + 1.5):
        allocation = allocate(hierarchy, values, budget, hra.Hull(finish="none"), "gain")
        assert allocation.gain >= gain * (1 - 1e-12)
        assert allocation.upper_bound >= bound * (1 - 1e-12)
        gain, bound = allocation.gain, allocation.upper_bound


@kinds
@given(seed=seeds)
def test_filling_never_gains_less_than_the_hull_point(kind, seed):
    hierarchy, values, rng = case(kind, seed)
    budget = random_budget(rng, hierarchy)
    point, filled = (allocate(hierarchy, values, budget, TRAVERSALS[name], "gain") for name in ("hull-none", "hull"))
    assert filled.gain >= point.gain
    assert filled.upper_bound == pytest.approx(point.upper_bound, rel=1e-12)


@pytest.mark.parametrize("kind", FORESTS)
@given(seed=seeds)
def test_the_hull_point_misses_the_bound_by_the_price_of_what_it_leaves_unused(kind, seed):
    hierarchy, values, rng = case(kind, seed)
    budget = random_budget(rng, hierarchy)
    allocation = allocate(hierarchy, values, budget, hra.Hull(finish="none"), "gain")
    assert allocation.price is not None
    unused = allocation.problem.capacity - (allocation.cost - hierarchy.base_cost)
    stated, problem = allocation.gain + allocation.price * unused, allocation.problem
    assert allocation.upper_bound <= stated * (1 + 1e-9)
    if (problem.attainable_gain == problem.gain).all():
        assert allocation.upper_bound == pytest.approx(stated, rel=1e-9)


@kinds
@given(seed=seeds)
def test_threshold_leaves_the_smallest_largest_error(kind, seed):
    hierarchy, values, rng = case(kind, seed)
    budget = random_budget(rng, hierarchy)
    allocation = allocate(hierarchy, values, budget, hra.Threshold(), "gain")
    assert allocation.max_error == least_peak(allocation.problem)


@kinds
@given(seed=seeds, tau=st.floats(0, 4))
def test_threshold_with_tau_takes_exactly_what_is_worse(kind, seed, tau):
    hierarchy, values, rng = case(kind, seed)
    allocation = allocate(hierarchy, values, np.inf, hra.Threshold(tau), "gain")
    assert (allocation.selected == (allocation.problem.peak > tau)).all()
    assert allocation.max_error <= tau
    assert allocation.tau == tau
    budget = random_budget(rng, hierarchy)
    tight = allocate(hierarchy, values, budget, hra.Threshold(tau), "gain")
    assert tight.max_error <= max(tau, least_peak(tight.problem))


@pytest.mark.parametrize("tau", [-1.0, float("nan"), "3", True])
def test_threshold_refuses_a_tau_that_is_no_number_from_zero(tau):
    with pytest.raises(MetricError, match="tau"):
        hra.Threshold(tau)


def test_hull_refuses_an_unknown_finish():
    with pytest.raises(HraError, match="finish"):
        hra.Hull(finish="core")  # pyright: ignore[reportArgumentType]


# Several predecessors, of which none gains by itself; an expensive further node keeps the budget from being ample.
BEHIND = [(0, 1), (0, 2), (1, 3), (2, 3)]


@pytest.mark.parametrize(
    ("cost", "gain", "budget", "best"),
    [
        ([1, 1, 1, 10], [0, 5, 1, 0], 3, 6),
        ([1e6, 1, 1, 1e7], [0, 1, 1, 0], 1e6 + 2, 2),
        ([1, 0, 0, 10], [0, 5, 1, 0], 1, 6),
        ([0, 0, 0, 10], [0, 5, 1, 0], 1, 6),
    ],
    ids=["equal costs", "cheap behind expensive", "free behind paid", "all free"],
)
@pytest.mark.parametrize("finish", ["fill", "none"])
def test_the_hull_of_a_dag_reaches_what_lies_behind_a_step_without_gain(cost, gain, budget, best, finish):
    allocation = allocate(Hierarchy.dag(cost, BEHIND), gain, budget, hra.Hull(finish=finish), "gain")
    assert allocation.gain == best


@given(seed=seeds)
def test_free_refinements_that_gain_are_always_taken(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 12))
    hierarchy = Hierarchy.dag(np.r_[np.zeros(size), 50], [(i, size) for i in range(size)])
    values = np.r_[rng.random(size) + 0.1, 1.0]
    for name in ("hull", "hull-none", "best-first", "threshold"):
        assert allocate(hierarchy, values, 0, TRAVERSALS[name], "gain").selected.tolist() == [True] * size + [False]


@pytest.mark.parametrize("finish", ["fill", "none"])
@given(seed=seeds)
def test_gains_that_are_proportional_to_the_cost_up_to_rounding_keep_the_choice_valid(finish, seed):
    """Slopes that are equal but for the last bit: uniform content, whose gain is its area times a constant."""
    rng = np.random.default_rng(seed)
    for _ in range(4):
        cost = rng.integers(1, 60, int(rng.integers(2, 6)))
        gain = cost * rng.random()
        gain = np.nextafter(gain, rng.choice([0.0, 100.0], gain.size))
        hierarchy = Hierarchy.chains([cost.size], cost)
        for budget in range(int(hierarchy.base_cost), int(hierarchy.total_cost) + 1, 9):
            allocate(hierarchy, gain, budget, hra.Hull(finish=finish), "gain")


@pytest.mark.parametrize("unit", [0.1, 0.7, 1 / 3])
@pytest.mark.parametrize("name", TRAVERSALS)
def test_fractional_costs_that_add_up_to_the_budget_only_nearly_are_no_overrun(name, unit):
    for size in (2, 3, 4, 6, 7, 10, 13, 19, 23):
        hierarchy = Hierarchy.flat(np.full(size, unit))
        for count in range(1, size + 1):
            for budget in (unit * count, np.full(count, unit).sum(), sum([unit] * count)):
                allocation = allocate(hierarchy, np.arange(1.0, size + 1), budget, TRAVERSALS[name], "gain")
                assert allocation.cost <= budget * (1 + 1e-12)


@given(seed=seeds)
def test_gain_per_cost_knows_free_refinements(seed):
    rng = np.random.default_rng(seed)
    gain, cost = rng.integers(0, 3, 20).astype(float), rng.integers(0, 3, 20).astype(float)
    problem = problem_of(Hierarchy.flat(cost), gain, "gain")
    for ratio, g, c in zip(problem.ratio, gain, cost, strict=True):
        assert ratio == g / c if c else ratio > 1e15 or g == 0 == ratio
