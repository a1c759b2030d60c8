from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.model.hierarchy import Hierarchy
from hra.solvers.forest.pava import blocks, hull_slopes, relaxed_gain
from hra.testing.traversal import closed_sets
from tests.helpers.allocators import problem_of
from tests.helpers.hierarchies import FORESTS, case
from tests.helpers.relaxation_cases import node_parents, seeds


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


@pytest.mark.parametrize("kind", FORESTS)
@given(seed=seeds, price=st.floats(0, 5))
def test_the_relaxed_gain_is_the_best_over_all_sets(kind, seed, price):
    hierarchy, values, _ = case(kind, seed)
    gain = problem_of(hierarchy, values, "gain").gain
    best = (closed_sets(hierarchy) @ (gain - price * hierarchy.cost)).max()
    scratch = np.empty(len(hierarchy))
    found = relaxed_gain(hierarchy.first_child, gain, hierarchy.cost, price, scratch)
    assert found == pytest.approx(best, rel=1e-9, abs=1e-12)
