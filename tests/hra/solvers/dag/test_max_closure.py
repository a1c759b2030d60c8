from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.model.hierarchy import Hierarchy
from hra.solvers.dag.max_closure import edges_among, hopeful, max_closure
from hra.solvers.dag.split_flow import even_shares, surplus_bound
from hra.testing.traversal import closed_sets
from tests.helpers.allocators import problem_of
from tests.helpers.hierarchies import case
from tests.helpers.references import smallest_closure

seeds = st.integers(0, 2**32 - 1)


def best_worth(hierarchy: Hierarchy, gain: np.ndarray, price: float) -> float:
    return float((closed_sets(hierarchy) @ (gain - price * hierarchy.cost)).max())


@given(seed=seeds, price=st.floats(0.01, 3))
def test_a_maximum_flow_finds_the_smallest_best_set_and_shares_that_prove_it(seed, price):
    hierarchy, values, _ = case("dag", seed)
    gain = problem_of(hierarchy, values, "gain").gain
    order, worth = hierarchy.predecessors, gain - price * hierarchy.cost
    share = even_shares(order[0])
    selected, is_best, _ = max_closure(order, worth, np.arange(gain.size), share)
    assert is_best
    best, rounding = best_worth(hierarchy, gain, price), 1e-8 * gain.sum()
    assert hierarchy.is_valid(selected)
    assert worth[selected].sum() == pytest.approx(best, abs=rounding)
    bound = surplus_bound(order, gain, hierarchy.cost, price, share, np.empty(gain.size))
    assert best - 1e-12 <= bound <= best + rounding
    if np.unique(closed_sets(hierarchy) @ worth).size == len(closed_sets(hierarchy)):
        assert (selected == smallest_closure(hierarchy, gain, price)).all()


@given(seed=seeds, price=st.floats(0.01, 3), more=st.floats(1, 3))
def test_what_cannot_pay_is_in_no_best_set_at_this_price_or_above_and_takes_in_all_it_gets(seed, price, more):
    hierarchy, values, rng = case("dag", seed)
    gain = problem_of(hierarchy, values, "gain").gain
    order, split = hierarchy.predecessors, rng.random(len(hierarchy.edges))
    split /= np.bincount(hierarchy.edges[:, 1], split)[hierarchy.edges[:, 1]] if split.size else 1.0
    among, share = np.arange(gain.size), split.copy()
    chosen = hopeful(*order, among, gain - price * hierarchy.cost, share)
    assert set(np.flatnonzero(smallest_closure(hierarchy, gain, price * more))) <= set(chosen)
    # What is chosen has all that it needs, so that it is a problem of its own.
    before, inner, edge = edges_among(*order, chosen)
    assert (np.diff(before) == np.diff(order[0])[chosen]).all() and (chosen[inner] == order[1][edge]).all()
    # The shares of the others prove that they add nothing.
    bound = surplus_bound(order, gain, hierarchy.cost, price * more, share, np.empty(gain.size))
    alone = (before, inner), gain[chosen], hierarchy.cost[chosen], price * more, share[edge], np.empty(chosen.size)
    assert bound == pytest.approx(surplus_bound(*alone), abs=1e-9)
    assert np.bincount(hierarchy.edges[:, 1], share) == pytest.approx(np.bincount(hierarchy.edges[:, 1], split))


@given(seed=seeds, price=st.floats(0.01, 3), work=st.integers(0, 200))
def test_a_flow_that_ends_early_leaves_a_valid_set_and_a_valid_bound(seed, price, work):
    hierarchy, values, rng = case("dag", seed)
    gain = problem_of(hierarchy, values, "gain").gain
    order, worth = hierarchy.predecessors, gain - price * hierarchy.cost
    share = rng.random(len(hierarchy.edges))
    found = max_closure(order, worth, np.arange(gain.size), share, float(work))
    assert hierarchy.is_valid(found.selected)
    assert found.work <= work + 4 * (gain.size + share.size)
    best = best_worth(hierarchy, gain, price)
    bound = surplus_bound(order, gain, hierarchy.cost, price, share, np.empty(gain.size))
    assert worth[found.selected].sum() <= best + 1e-9 <= bound + 2e-9


@pytest.mark.parametrize("length", [50, 400])
def test_chains_with_cross_edges_need_work_in_proportion_to_their_size(length):
    # Distances to deficits are long here: the worst case for flows by shortest paths.
    rng = np.random.default_rng(0)
    chain = np.arange(20 * length).reshape(20, length)
    along = np.stack([chain[:, :-1].ravel(), chain[:, 1:].ravel()], axis=1)
    across = np.stack([chain[:-1, :-1].ravel(), chain[1:, 1:].ravel()], axis=1)
    hierarchy = Hierarchy.dag(rng.integers(1, 100, chain.size), np.concatenate([along, across]))
    worth = rng.lognormal(sigma=1.5, size=chain.size) - 0.06 * hierarchy.cost
    share = even_shares(hierarchy.predecessors[0])
    found = max_closure(hierarchy.predecessors, worth, np.arange(worth.size), share)
    assert found.is_best
    assert found.work <= 1000 * (worth.size + share.size)
