"""The parts of the exact traversal: penalties, preorder, and searches from any price and any shares."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.model.hierarchy import Hierarchy
from hra.solvers.dag.split_flow import surplus_bound
from hra.solvers.search.deepening import improve
from hra.solvers.search.pareto import new_states, preorder
from hra.solvers.search.penalties import Relaxed, find_undecided, penalties, relax
from tests.helpers.allocators import problem_of
from tests.helpers.hierarchies import FORESTS, KINDS, case
from tests.helpers.references import affordable_sets, best_gain, closed_sets

seeds = st.integers(0, 2**32 - 1)
kinds = pytest.mark.parametrize("kind", KINDS)


def random_shares(rng: np.random.Generator, hierarchy: Hierarchy) -> np.ndarray:
    before, _ = hierarchy.predecessors
    share, owner = rng.random(len(hierarchy.edges)) + 1e-3, np.repeat(np.arange(len(hierarchy)), np.diff(before))
    return share / np.bincount(owner, share, len(hierarchy))[owner]


def relaxed_at(hierarchy: Hierarchy, gain: np.ndarray, price: float, share: np.ndarray) -> tuple[Relaxed, float]:
    """A relaxation, and the most that gain - price * cost can be."""
    surplus = np.empty(len(hierarchy))
    bound = surplus_bound(hierarchy.predecessors, gain, hierarchy.cost, price, share, surplus)
    return relax(*hierarchy.predecessors, share, gain, hierarchy.cost, price), bound


@kinds
@given(seed=seeds)
def test_every_set_loses_what_its_decisions_cost_at_least(kind, seed):
    hierarchy, values, rng = case(kind, seed, 12)
    gain, price = problem_of(hierarchy, values, "gain").gain, rng.random()
    relaxed, bound = relaxed_at(hierarchy, gain, price, random_shares(rng, hierarchy))
    loss_out, loss_in = penalties(relaxed, np.inf)
    for selected in closed_sets(hierarchy):
        loss = bound - (gain - price * hierarchy.cost)[selected].sum()
        assert (loss_in[selected] <= loss + 1e-9).all()
        assert (loss_out[~selected] <= loss + 1e-9).all()


@pytest.mark.parametrize("kind", FORESTS)
@given(seed=seeds)
def test_penalties_are_exact_on_forests(kind, seed):
    hierarchy, values, rng = case(kind, seed, 12)
    gain, price = problem_of(hierarchy, values, "gain").gain, rng.random()
    relaxed, bound = relaxed_at(hierarchy, gain, price, np.ones(len(hierarchy.edges)))
    loss_out, loss_in = penalties(relaxed, np.inf)
    sets = closed_sets(hierarchy)
    losses = bound - sets @ (gain - price * hierarchy.cost)
    for r in range(len(hierarchy)):
        assert loss_in[r] == pytest.approx(losses[sets[:, r]].min(), abs=1e-9)
        assert loss_out[r] == pytest.approx(losses[~sets[:, r]].min(), abs=1e-9)


@kinds
@given(seed=seeds)
def test_no_set_within_the_tolerance_is_decided_away(kind, seed):
    hierarchy, values, rng = case(kind, seed, 12)
    problem = problem_of(hierarchy, values, "gain", hierarchy.base_cost + float(rng.integers(0, 30)))
    price = rng.random()
    relaxed, bound = relaxed_at(hierarchy, problem.gain, price, random_shares(rng, hierarchy))
    tolerance = float(rng.random() * problem.gain.sum())
    taken = np.empty(len(hierarchy), np.bool_)
    names = find_undecided(*penalties(relaxed, problem.capacity), tolerance, taken)
    free = np.zeros(len(hierarchy), np.bool_)
    free[names] = True
    for selected in affordable_sets(problem):
        if bound - (problem.gain - price * hierarchy.cost)[selected].sum() < tolerance - 1e-9:
            assert (selected == taken)[~free].all()


@kinds
@given(seed=seeds)
def test_any_price_and_any_shares_lead_to_the_best_set(kind, seed):
    hierarchy, values, rng = case(kind, seed, 12)
    problem = problem_of(hierarchy, values, "gain", hierarchy.base_cost + float(rng.integers(0, 30)))
    selected, price = np.zeros(len(hierarchy), np.bool_), float(rng.choice([0.0, rng.random(), 100.0]))
    share, forest = random_shares(rng, hierarchy), hierarchy.parent is not None
    states = new_states(10_000) if forest else None
    given = (hierarchy.predecessors, share, problem.gain, hierarchy.cost, problem.capacity, price)
    shortfall, proven = improve(*given, 10_000, states, selected)
    assert proven
    assert hierarchy.is_valid(selected)
    assert hierarchy.cost[selected].sum() <= problem.capacity
    assert problem.gain[selected].sum() == pytest.approx(best_gain(problem), rel=1e-9)
    assert 0 <= shortfall <= 1e-9 * problem.gain.sum()


@given(seed=seeds)
def test_subtrees_are_contiguous_and_few_are_open_at_a_time(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 60))
    parent = np.array([rng.integers(-1, r) if r else -1 for r in range(size)], np.int32)
    order, position, sizes = preorder(parent)
    assert (order[position] == np.arange(size)).all()
    for r in range(size):
        inside = {r}
        for s in range(r + 1, size):
            if parent[s] in inside:
                inside.add(s)
        assert set(order[position[r] : position[r] + sizes[r]].tolist()) == inside
        assert position[r] == min(position[s] for s in inside)
    for r in range(size):
        ends, s = set(), r
        while s >= 0:
            ends.add(int(position[s] + sizes[s]))
            s = parent[s]
        assert len(ends) <= 1 + np.log2(size)
