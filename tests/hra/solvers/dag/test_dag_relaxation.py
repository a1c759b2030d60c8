"""Bounds and sets on DAGs against enumeration and linear programs, with maximum flows and with next to none."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from hra.solvers.dag import dag_relaxation
from hra.solvers.dag.dag_relaxation import Chord, Part, price_range
from hra.solvers.dag.max_closure import max_closure
from hra.solvers.dag.split_flow import better_set, surplus_bound
from hra.solvers.relaxation import Relaxation, relaxation
from hra.testing.traversal import closed_sets
from hra.traversals.hull import Hull
from hra_lab.inputs import cluster_dag
from tests.helpers.allocators import problem_of
from tests.helpers.compiled_kinds import kinds_compiled
from tests.helpers.hierarchies import case, random_budgets, random_closed_set, random_dag, random_edges, random_groups
from tests.helpers.references import best_gain, linear_bound

seeds = st.integers(0, 2**32 - 1)


WAYS = ["flows", "in part", "a little"]


def solved(problem: Problem, way: str) -> Relaxation:
    """By flows where sweeps do not suffice; in part: among what can pay; a little: next to no flow."""
    with pytest.MonkeyPatch.context() as patch:
        if way == "in part":
            patch.setattr(dag_relaxation, "_MANY", 0)
        if way == "a little":
            patch.setattr(dag_relaxation, "_WORK", 0.0)
        return relaxation(problem)


def paid_dag(rng: np.random.Generator) -> Hierarchy:
    size = int(rng.integers(5, 50))
    return Hierarchy.dag(rng.integers(1, 6, size), random_edges(rng, size, 2 / size))


DAGS = {
    "paid": paid_dag,
    "with free refinements": lambda rng: random_dag(rng, int(rng.integers(5, 50))),
    "groups": lambda rng: random_groups(rng, int(rng.integers(5, 50))),
}


@pytest.mark.parametrize(("way", "excess"), [("flows", 2e-5), ("in part", 2e-5), ("a little", 2e-1)])
@pytest.mark.parametrize("name", DAGS)
@given(seed=seeds)
def test_the_bound_is_close_to_the_linear_program_and_never_below(name, way, excess, seed):
    rng = np.random.default_rng(seed)
    hierarchy = DAGS[name](rng)
    values = rng.random(hierarchy.node_cost.size)
    for budget in random_budgets(rng, hierarchy, 2):
        problem = problem_of(hierarchy, values, "gain", float(budget))
        least = linear_bound(problem)
        assert least * (1 - 1e-9) <= solved(problem, way).upper_bound <= least * (1 + excess) + 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_flows_solve_the_linear_program_of_a_few_hundred_refinements(seed):
    rng = np.random.default_rng(seed)
    hierarchy = Hierarchy.dag(rng.random(300) + 0.01, random_edges(rng, 300, 0.01))
    for share in (0.05, 0.3, 0.7):
        problem = problem_of(hierarchy, rng.random(300) ** 6, "gain", share * hierarchy.total_cost)
        assert solved(problem, "flows").upper_bound == pytest.approx(linear_bound(problem), rel=1.1e-5)


@pytest.mark.parametrize("make", [cluster_dag.smooth_dag, cluster_dag.heavy_dag])
@pytest.mark.parametrize(("way", "excess"), [("flows", 1e-5), ("a little", 1e-2)])
def test_cluster_groups_are_solved_and_filled_to_a_small_gap(make, way, excess):
    instance = make(128)
    for share in (0.1, 0.5):
        problem = instance.problem(instance.gain, share)
        bound = min(solved(problem, one).upper_bound for one in WAYS)
        assert solved(problem, way).upper_bound <= bound * (1 + excess)
    assert problem.gain[Hull().solve(problem).selected].sum() >= bound * (1 - 2e-4)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["dag", "groups"])
@given(seed=seeds)
@example(seed=4)  # a priority of 0 that is rounded
def test_the_set_is_valid_and_fits_and_the_bound_covers_the_best(kind, way, seed):
    hierarchy, values, rng = case(kind, seed)
    for budget in random_budgets(rng, hierarchy, 3):
        problem = problem_of(hierarchy, values, "gain", float(budget))
        relaxed = solved(problem, way)
        assert hierarchy.is_valid(relaxed.selected)
        assert hierarchy.cost[relaxed.selected].sum() <= problem.capacity
        assert best_gain(problem) <= relaxed.upper_bound * (1 + 1e-12)
        assert (relaxed.priority >= 0).all()
        assert np.isfinite(relaxed.priority).all()


@pytest.mark.parametrize("way", WAYS)
@given(seed=seeds)
def test_gains_of_very_different_sizes_keep_the_bound_valid(way, seed):
    hierarchy, values, rng = case("dag", seed)
    values = values * 10.0 ** rng.integers(-15, 16, values.size)
    problem = problem_of(hierarchy, values, "gain", float(random_budgets(rng, hierarchy, 1)[0]))
    assert best_gain(problem) <= solved(problem, way).upper_bound * (1 + 1e-12)


@pytest.mark.parametrize(("way", "slack"), [("flows", 2e-5), ("in part", 2e-5), ("a little", 2e-1)])
@given(seed=seeds)
@example(seed=209)  # nothing is free, yet the highest price does not close
def test_the_bound_grows_with_the_budget(way, slack, seed):
    hierarchy, values, rng = case("dag", seed, 40)
    budgets = np.sort(random_budgets(rng, hierarchy, 4))
    bounds = [solved(problem_of(hierarchy, values, "gain", float(b)), way).upper_bound for b in budgets]
    assert all(after >= before * (1 - slack) for before, after in pairwise(bounds))


@pytest.mark.parametrize("way", WAYS)
def test_the_same_problem_gets_the_same_answer(way):
    instance = cluster_dag.heavy_dag(64)
    problem = instance.problem(instance.gain, 0.1)
    first, again = solved(problem, way), solved(problem, way)
    assert (first.selected == again.selected).all()
    assert (first.priority == again.priority).all()
    assert (first.price, first.upper_bound) == (again.price, again.upper_bound)


@pytest.mark.parametrize("way", WAYS)
def test_a_free_refinement_behind_a_paid_one_keeps_the_bound_tight(way):
    # The paid refinement and the free one behind it are worth 2 per unit together, more than the paid one alone.
    hierarchy = Hierarchy.dag([0, 2, 0], [(0, 2), (1, 2)])
    problem = problem_of(hierarchy, [2, 2, 2], "gain", 0.0)
    assert best_gain(problem) == linear_bound(problem) == 2
    assert solved(problem, way).upper_bound == pytest.approx(2, rel=1e-2)


@pytest.mark.parametrize("way", WAYS)
def test_a_cheap_refinement_behind_an_expensive_one_keeps_the_bound_tight(way):
    hierarchy = Hierarchy.dag([1e6, 1, 1, 1e7], [(0, 1), (0, 2), (1, 3), (2, 3)])
    problem = problem_of(hierarchy, [0, 1, 1, 0], "gain", 1e5)
    assert solved(problem, way).upper_bound == pytest.approx(linear_bound(problem), rel=1e-2)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["paid", "groups"])
@given(seed=seeds)
def test_nothing_can_be_gained_with_what_the_base_costs_where_nothing_is_free(name, way, seed):
    hierarchy = DAGS[name](np.random.default_rng(seed))
    values = np.ones(hierarchy.node_cost.size)
    if (hierarchy.cost > 0).all() and hierarchy.parent is None:
        assert solved(problem_of(hierarchy, values, "gain", hierarchy.base_cost), way).upper_bound == 0


@given(seed=seeds, price=st.floats(0.01, 3))
def test_a_maximum_flow_among_some_refinements_counts_the_others_as_taken(seed, price):
    hierarchy, values, rng = case("dag", seed)
    gain = problem_of(hierarchy, values, "gain").gain
    taken = random_closed_set(rng, hierarchy)
    among, worth = np.flatnonzero(~taken), gain - price * hierarchy.cost
    share = np.full(len(hierarchy.edges), 7.0)  # any numbers will do: flows begin with their proportions
    selected = taken.copy()
    selected[among[max_closure(hierarchy.predecessors, worth[among], among, share).selected]] = True
    sets = closed_sets(hierarchy)
    best = (sets[(sets >= taken).all(axis=1)] @ worth).max()
    assert hierarchy.is_valid(selected)
    assert worth[selected].sum() == pytest.approx(best, abs=1e-8 * gain.sum())
    after = hierarchy.edges[:, 1]
    assert (share[taken[after]] == 7.0).all(), "shares of others stay"
    assert np.bincount(after, share)[np.unique(after[~taken[after]])] == pytest.approx(1.0)


def test_one_kind_of_arrays_is_compiled_for_the_whole_and_for_parts():
    instance, known = cluster_dag.smooth_dag(128), []
    for way in ("flows", "in part"):
        solved(instance.problem(instance.gain, 0.3), way)
        known.append(kinds_compiled(max_closure, better_set, surplus_bound))
    assert min(known[1]) > 0 and known[0] == known[1]


def test_a_set_above_the_chord_replaces_the_end_on_its_side():
    hierarchy = Hierarchy.dag([2, 2, 2, 2], [(0, 2), (1, 2), (1, 3)])
    problem = problem_of(hierarchy, [1, 4, 1, 2], "gain", 5.0)
    chord = Chord.up_to(problem, np.ones(4, np.bool_))
    assert chord.price == 1
    order = hierarchy.predecessors
    part = Part(order, problem.gain, problem.cost, np.arange(4), np.arange(3))
    assert chord.add(part, 1.0, np.array([False, True, False, False])) == (True, 4 - 2 + 4)
    assert (chord.low, chord.most, chord.price) == ((2, 4), 4, 4 / 6)
    assert not chord.add(part, chord.price, np.array([True, False, False, False]))[0]
    assert chord.add(part, chord.price, np.array([True, True, False, True]))[0]
    assert (chord.low, chord.high, chord.at_capacity) == ((2, 4), (6, 7), 5.5)
    chord.prove(1.0, 3.0, np.ones(3))
    chord.prove(1.0, 4.0, np.zeros(3))
    assert (chord.bound, chord.bound_price) == (3.0 + 4.0, 1.0)
    assert chord.bound_share is not None and chord.bound_share.tolist() == [1, 1, 1]
    # Places in a part are those of its refinements.
    assert chord.add(part.of(np.array([1, 3])), 0.5, np.array([True, True]))[1] == 6 - 0.5 * 4 + 0.5 * 4
    assert chord.selected.tolist() == [False, True, False, True]


def test_prices_are_searched_from_where_all_is_worth_it_to_where_nothing_is():
    graph = Hierarchy.dag([1.0, 2.0, 0.0], np.array([[0, 2], [1, 2]], np.int32))
    for gains, expected in (([3.0, 8.0, 0.0], (3 / 3, 11 / 1)), ([0.0, 0.0, 6.0], (6 / 3, 6 / 1)), ([0.0] * 3, (1, 1))):
        assert price_range(problem_of(graph, gains, "gain")) == expected
    free = Hierarchy.dag([0.0, 0.0], np.array([[0, 1]], np.int32))
    assert price_range(problem_of(free, [1.0, 2.0], "gain")) == (1, 1)
