"""What each kind of hierarchy calls a refinement, against plain loops and networkx."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.errors import ArrayError, HierarchyError, HraError
from hra.model import topology
from hra.model.hierarchy import Hierarchy
from hra.model.topology import level_order
from tests.helpers.hierarchies import random_edges, random_group_table, random_parents

seeds = st.integers(0, 2**32 - 1)


def forest(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return random_parents(rng, int(rng.integers(1, 20))).astype(np.int32)


def edge_set(shape: topology.Topology) -> set[tuple[int, ...]]:
    return set(map(tuple, shape.edges.tolist()))


@given(seed=seeds)
def test_replace_swaps_every_inner_node_for_its_children(seed):
    parent = forest(seed)
    shape = topology.replace(parent)
    inner = sorted({p for p in parent.tolist() if p >= 0})
    assert shape.size == len(inner)
    number = {node: r for r, node in enumerate(inner)}
    assert shape.removed_by.tolist() == [number.get(v, -1) for v in range(parent.size)]
    assert shape.added_by.tolist() == [number.get(p, -1) for p in parent.tolist()]
    assert edge_set(shape) == {(number[parent[v]], number[v]) for v in inner if parent[v] >= 0}


@given(seed=seeds)
def test_add_adds_every_child_after_its_parent_and_removes_nothing(seed):
    parent = forest(seed)
    shape = topology.add(parent)
    children = [v for v in range(parent.size) if parent[v] >= 0]
    number = {node: r for r, node in enumerate(children)}
    assert (shape.removed_by == -1).all()
    assert shape.added_by.tolist() == [number.get(v, -1) for v in range(parent.size)]
    assert edge_set(shape) == {(number[parent[v]], number[v]) for v in children if parent[v] in number}


@given(seed=seeds)
def test_child_by_child_is_a_chain_of_siblings_by_falling_order(seed):
    parent = forest(seed)
    order = np.random.default_rng(seed).integers(0, 4, parent.size).astype(float)
    shape = topology.child_by_child(parent, order)
    added_by = shape.added_by.tolist()
    expected, last = set(), {}
    for p in sorted({p for p in parent.tolist() if p >= 0}):
        siblings = sorted((v for v in range(parent.size) if parent[v] == p), key=lambda v: (-order[v], v))
        expected |= {(added_by[a], added_by[b]) for a, b in pairwise(siblings)}
        expected |= {(added_by[p], added_by[siblings[0]])} if parent[p] >= 0 else set()
        last[p] = added_by[siblings[-1]]
    assert edge_set(shape) == expected
    assert shape.removed_by.tolist() == [last.get(v, -1) for v in range(parent.size)]


@given(seed=seeds)
def test_groups_come_after_the_groups_whose_nodes_they_remove(seed):
    rng = np.random.default_rng(seed)
    _, added_by, removed_by, _ = random_group_table(rng, int(rng.integers(1, 10)))
    shape = topology.groups(added_by.astype(np.int32), removed_by.astype(np.int32))
    expected = {(a, r) for a, r in zip(added_by.tolist(), removed_by.tolist(), strict=True) if a >= 0 and r >= 0}
    assert edge_set(shape) == expected
    assert len(shape.edges) == len(expected)


def test_a_group_without_nodes_is_refused_with_its_number():
    with pytest.raises(HierarchyError, match="refinement 1"):
        topology.groups(np.array([-1, 0, 2], np.int32), np.array([0, 2, -1], np.int32))


@given(seed=seeds)
def test_level_order_is_topological_and_levels_are_longest_distances(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 25))
    edges = random_edges(rng, size).astype(np.int32)
    order, level = level_order(edges, size)
    graph = networkx.DiGraph([(a, b) for a, b in edges.tolist()])
    graph.add_nodes_from(range(size))
    generations = list(networkx.topological_generations(graph))
    distance = {v: depth for depth, generation in enumerate(generations) for v in generation}
    assert sorted(order.tolist()) == list(range(size))
    assert level.tolist() == [distance[v] for v in order.tolist()] == sorted(level.tolist())


@given(seed=seeds)
def test_a_cycle_that_is_named_exists(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 15))
    edges = rng.integers(0, size, (int(rng.integers(1, 30)), 2)).astype(np.int32)
    graph = networkx.DiGraph([(a, b) for a, b in edges.tolist()])
    if networkx.is_directed_acyclic_graph(graph):
        level_order(np.unique(edges, axis=0), size)
        return
    with pytest.raises(HierarchyError, match="cycle") as caught:
        level_order(edges, size)
    named = caught.value.where.split(" <- ")
    if "..." not in named:
        assert named[0] == named[-1]
        assert all(graph.has_edge(int(coarse), int(fine)) for fine, coarse in pairwise(named))


# ---- nodes that go before they come ----


@given(seed=seeds)
def test_a_node_comes_before_it_goes_where_a_path_leads_there(seed: int):
    rng = np.random.default_rng(seed)
    size, nodes = int(rng.integers(1, 9)), int(rng.integers(1, 6))
    edges = random_edges(rng, size, 0.3).astype(np.int32).reshape(-1, 2)
    added, removed = rng.integers(-1, size, (2, nodes)).astype(np.int32)
    graph = networkx.DiGraph([(a, b) for a, b in edges.tolist()])
    graph.add_nodes_from(range(size))
    early = [
        v
        for v in range(nodes)
        if min(added[v], removed[v]) >= 0
        and (added[v] == removed[v] or not networkx.has_path(graph, added[v], removed[v]))
    ]
    shape = topology.Topology(size, added, removed, edges)
    if early:
        with pytest.raises(HierarchyError, match=f"node {early[0]} can be removed before it is added"):
            Hierarchy.from_topology(np.ones(nodes), shape)
    else:
        made = Hierarchy.from_topology(np.ones(nodes), shape)
        assert len(made) == size


def test_what_only_many_steps_would_tell_is_refused_with_the_edge_that_tells_it(monkeypatch: pytest.MonkeyPatch):
    chain = np.array([(0, 1), (1, 2), (2, 3)], np.int32)
    added, removed = np.array([0], np.int32), np.array([3], np.int32)
    assert len(Hierarchy.from_topology(np.ones(1), topology.Topology(4, added, removed, chain))) == 4
    monkeypatch.setattr(topology, "_STEPS", 0)
    with pytest.raises(HierarchyError, match="too many steps") as caught:
        Hierarchy.from_topology(np.ones(1), topology.Topology(4, added, removed, chain))
    assert "(0, 3)" in caught.value.fix


def _reads_well(parent: np.ndarray, made: Hierarchy) -> bool:
    """What the check of parents promises, node by node and path by path."""
    graph = networkx.DiGraph(made.edges.tolist())
    graph.add_nodes_from(range(len(made)))
    added, removed = made.added_by.tolist(), made.removed_by.tolist()
    for v, p in enumerate(parent.tolist()):
        if (added[v] < 0) != (p < 0):
            return False
        if p < 0:
            continue
        siblings = [added[w] for w in range(parent.size) if parent[w] == p]
        if added[p] >= 0 and not networkx.has_path(graph, added[p], added[v]):
            return False
        if removed[p] >= 0 and not (removed[p] in siblings and networkx.has_path(graph, added[v], removed[p])):
            return False
        if any(added[w] == added[v] and parent[w] != p for w in range(parent.size)):
            return False
    return all(removed[p] < 0 or p in parent for p in range(parent.size))


@pytest.mark.parametrize("mode", ["replace", "child", "add"])
@given(seed=seeds)
def test_parents_that_the_refinements_contradict_are_refused(mode, seed):
    rng, parent = np.random.default_rng(seed), forest(seed)
    made = Hierarchy.tree(parent, np.ones(parent.size), mode=mode)
    assert Hierarchy.from_topology(made.node_cost, made.topology, node_parent=parent).same_as(made)
    other = parent.copy()
    changed = rng.integers(0, parent.size, int(rng.integers(1, 3)))
    other[changed] = rng.integers(-1, parent.size, changed.size)
    try:
        Hierarchy.from_topology(made.node_cost, made.topology, node_parent=other)
    except HierarchyError as error:
        assert "node_parent[" in error.where and np.any(other != parent)
    else:
        assert _reads_well(other, made)


def test_what_is_no_topology_is_refused():
    made = Hierarchy.tree([-1, 0, 0, 1, 1], np.ones(5), mode="child")
    shape, cost = made.topology, made.node_cost
    for name in ("added_by", "removed_by", "edges"):
        with pytest.raises(ArrayError, match="out of range"):
            Hierarchy.from_topology(cost, replace(shape, **{name: getattr(shape, name) + 9}))
    with pytest.raises(ArrayError, match="out of range"):
        Hierarchy.from_topology(cost, shape, node_parent=np.array([5, 9, 9, 10**6, 10**9]))
    with pytest.raises(ArrayError, match="added_by has 3 values"):
        Hierarchy.from_topology(cost, replace(shape, added_by=shape.added_by[:3]))
    with pytest.raises(HierarchyError, match="negative"):
        Hierarchy.from_topology(-cost, shape)
    with pytest.raises(HraError, match="size"):
        Hierarchy.from_topology(cost, replace(shape, size=-1))
    with pytest.raises(HraError, match="Topology"):
        Hierarchy.from_topology(cost, made)  # pyright: ignore[reportArgumentType]: the wrong call
