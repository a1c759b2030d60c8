from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.model.hierarchy import Hierarchy
from hra.solvers.dag import dag_relaxation
from hra.solvers.dag.dag_relaxation import Chord, Part
from hra.solvers.dag.split_flow import closure, even_shares, surplus_bound
from hra.testing.traversal import closed_sets
from hra_lab.inputs import cluster_dag
from tests.helpers.allocators import problem_of
from tests.helpers.hierarchies import case

seeds = st.integers(0, 2**32 - 1)


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
    assert surplus_bound((offsets, predecessors), gain, hierarchy.cost, price, share, surplus) >= best - 1e-9


@given(seed=seeds, price=st.floats(0.01, 3))
def test_the_set_of_a_closure_is_valid_and_its_bound_is_one(seed, price):
    hierarchy, values, _ = case("dag", seed)
    gain = problem_of(hierarchy, values, "gain").gain
    offsets, predecessors = hierarchy.predecessors
    share = 1 / np.repeat(np.diff(offsets), np.diff(offsets))
    selected = np.empty(gain.size, bool)
    bound = closure((offsets, predecessors), gain, hierarchy.cost, price, share, 60, selected)
    best = (closed_sets(hierarchy) @ (gain - price * hierarchy.cost)).max()
    assert hierarchy.is_valid(selected)
    value = (gain - price * hierarchy.cost)[selected].sum()
    assert value <= best + 1e-9
    assert best <= bound + 1e-9


def test_prices_of_flows_are_nested():
    # Shares of what an earlier flow decided still prove the last set: the bound meets the chord to rounding.
    instance = cluster_dag.heavy_dag(64)
    problem = instance.problem(instance.gain, 0.3)
    chord = Chord.up_to(problem, np.ones(len(problem.hierarchy), np.bool_))
    order = problem.hierarchy.predecessors
    part = Part(order, problem.gain, problem.cost, np.arange(problem.gain.size), np.arange(order[1].size))
    dag_relaxation._flow(chord, part, even_shares(order[0]))
    assert chord.bound == pytest.approx(chord.at_capacity, rel=1e-8)


def test_even_shares_add_up_to_one():
    assert even_shares(np.array([0, 0, 1, 3, 7])).tolist() == [1, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25]


def test_sweeps_bring_shares_to_where_the_surplus_is_used_up():
    # What the third has pays for the first two, but not in halves: even shares leave a surplus of 1.
    graph = Hierarchy.dag([1.0, 3.0, 1.0], np.array([[0, 2], [1, 2]], np.int32))
    order, gain, selected = graph.predecessors, np.array([0.0, 0.0, 5.0]), np.zeros(3, np.bool_)
    bounds = [closure(order, gain, graph.cost, 1.0, even_shares(order[0]), n, selected.copy()) for n in (1, 10, 60)]
    assert bounds[0] == 1 and 0 <= bounds[2] < bounds[1] < 0.7 and bounds[2] < 0.3
