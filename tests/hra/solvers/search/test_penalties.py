"""The parts of the exact traversal: penalties, preorder, and searches from any price and any shares."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from hra.model.hierarchy import Hierarchy
from hra.solvers.dag.split_flow import surplus_bound
from hra.solvers.search.penalties import Relaxed, find_undecided, penalties, relax
from hra.testing.traversal import closed_sets
from tests.helpers.allocators import problem_of
from tests.helpers.hierarchies import FORESTS, case
from tests.helpers.penalties_cases import kinds, random_shares, seeds
from tests.helpers.references import affordable_sets


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
