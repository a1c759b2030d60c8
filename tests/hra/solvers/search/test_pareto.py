from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from hra.solvers.search.deepening import improve
from hra.solvers.search.pareto import new_states, preorder
from tests.helpers.allocators import problem_of
from tests.helpers.hierarchies import case
from tests.helpers.penalties_cases import kinds, random_shares, seeds
from tests.helpers.references import best_gain


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
