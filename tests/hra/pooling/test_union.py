from __future__ import annotations

import sys
import threading
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.model.hierarchy import Hierarchy
from hra.pooling import union as unions
from hra.pooling.union import union
from tests.helpers.allocators import allocate
from tests.helpers.hierarchies import KINDS, case, random_parents

seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds)
def test_a_union_keeps_costs_edges_and_nodes_of_its_members(seed):
    rng = np.random.default_rng(seed)
    members = [case(kind, int(rng.integers(2**32)), 12)[0] for kind in rng.choice(list(KINDS), rng.integers(1, 5))]
    whole, places = union(members)
    assert len(whole) == sum(map(len, members))
    assert sorted(np.concatenate(places).tolist()) == list(range(len(whole)))
    assert whole.base_cost == sum(member.base_cost for member in members)
    edges = {(place[a], place[b]) for member, place in zip(members, places, strict=True) for a, b in member.edges}
    assert set(map(tuple, whole.edges.tolist())) == edges
    first = 0
    for member, place in zip(members, places, strict=True):
        nodes = slice(first, first + member.node_cost.size)
        first = nodes.stop
        assert (whole.cost[place] == member.cost).all()
        assert (whole.node_cost[nodes] == member.node_cost).all()
        moved = np.r_[place, -1]
        assert (whole.added_by[nodes] == moved[member.added_by]).all()
        assert (whole.removed_by[nodes] == moved[member.removed_by]).all()


@pytest.mark.parametrize("mode", ["replace", "child", "add"])
@given(seed=seeds)
def test_a_union_of_trees_is_the_tree_of_the_concatenated_arrays(mode, seed):
    rng = np.random.default_rng(seed)
    parents = [random_parents(rng, int(rng.integers(1, 15))) for _ in range(3)]
    offsets = np.cumsum([0] + [parent.size for parent in parents])[:-1]
    joined = np.concatenate([np.where(p < 0, -1, p + offset) for p, offset in zip(parents, offsets, strict=True)])
    whole, _ = union([Hierarchy.tree(p, np.ones(p.size), mode=mode) for p in parents])
    expected = Hierarchy.tree(joined, np.ones(joined.size), mode=mode)
    values = rng.random(joined.size)
    for budget in range(int(whole.base_cost), int(whole.total_cost) + 1):
        one, other = (allocate(h, values, budget, hra.Hull(finish="none"), "gain") for h in (whole, expected))
        assert one.gain == pytest.approx(other.gain)
        assert one.upper_bound == pytest.approx(other.upper_bound)
        assert one.cut.tolist() == other.cut.tolist()


def test_threads_may_share_what_is_remembered(monkeypatch):
    """They removed what another one had removed: a KeyError in one of some thousand allocations."""
    members = [Hierarchy.flat([1.0]) for _ in range(30)]
    joined, places = union(members[:1])
    monkeypatch.setattr(unions, "union", lambda members: (joined, places))  # as quick as possible: the rest is tested
    remembered, failures = unions.Unions(), []

    def ask(seed: int) -> None:
        random = Random(seed)
        for _ in range(20_000):
            try:
                remembered.of(random.choices(members, k=2))
            except Exception as error:
                failures.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert not failures
