"""Hierarchies from and to networkx graphs."""

from __future__ import annotations

import sys
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.errors import HierarchyError, MissingExtra
from hra.model.hierarchy import Hierarchy
from tests.helpers.hierarchies import KINDS, case, random_closed_set, random_parents

seeds = st.integers(0, 2**32 - 1)


def small_tree() -> networkx.DiGraph:
    graph = networkx.DiGraph([("root", "left"), ("root", "right")])
    set_all(graph, "cost", 1, 2, 4.5)
    return graph


def set_all(graph: networkx.DiGraph, name: Any, *values: object) -> None:
    """Give every node one of the values, in the order of the graph."""
    for node, value in zip(graph, values, strict=True):
        graph.nodes[node][name] = value


@given(seed=seeds)
def test_a_tree_is_read_with_its_nodes_in_the_order_of_the_graph(seed):
    rng = np.random.default_rng(seed)
    parent = random_parents(rng, int(rng.integers(1, 20)))
    graph = networkx.DiGraph()
    for v in rng.permutation(parent.size).tolist():
        graph.add_node(v, cost=int(v), size=v / 2)
    graph.add_edges_from((int(p), v) for v, p in enumerate(parent) if p >= 0)
    hierarchy = Hierarchy.from_networkx(graph, mode="add")
    names = list(graph)
    assert hierarchy.node_cost.tolist() == names
    assert hierarchy.attribute("size").tolist() == [v / 2 for v in names]
    assert hierarchy.node_parent is not None
    assert [names[p] if p >= 0 else -1 for p in hierarchy.node_parent] == parent[names].tolist()


@pytest.mark.parametrize("kind", KINDS)
@given(seed=seeds)
def test_the_graph_has_the_same_refinements_costs_and_order(kind, seed):
    hierarchy, _, rng = case(kind, seed, 20)
    graph = hierarchy.to_networkx()
    assert list(graph) == list(range(len(hierarchy)))
    assert set(graph.edges) == set(map(tuple, hierarchy.edges.tolist()))
    assert [graph.nodes[r]["cost"] for r in graph] == hierarchy.cost.tolist()
    selected = random_closed_set(rng, hierarchy)
    taken = np.flatnonzero(selected).tolist()
    assert all(networkx.ancestors(graph, r) <= set(taken) for r in taken)
    active = set(np.flatnonzero(hierarchy.added_by < 0).tolist())
    for r in taken:
        active = active - set(graph.nodes[r]["removes"]) | set(graph.nodes[r]["adds"])
    assert active == set(np.flatnonzero(hierarchy.active_nodes(selected)).tolist())


@pytest.mark.parametrize("kind", KINDS)
@given(seed=seeds)
def test_a_round_trip_keeps_costs_and_order(kind, seed):
    hierarchy, _, _ = case(kind, seed, 20)
    again = Hierarchy.from_networkx(hierarchy.to_networkx(), mode="dag")
    assert again.node_cost.tolist() == hierarchy.cost.tolist()
    place = again.added_by
    assert {(place[a], place[b]) for a, b in hierarchy.edges.tolist()} == set(map(tuple, again.edges.tolist()))


def test_only_numbers_that_all_nodes_share_become_attributes():
    graph = small_tree()
    set_all(graph, "level", 1, 2, 3)
    set_all(graph, "name", "a", "b", "c")
    graph.nodes["root"]["only here"] = 1
    hierarchy = Hierarchy.from_networkx(graph)
    assert set(hierarchy.node) == {"level"}
    assert hierarchy.cost.tolist() == [5.5]


@pytest.mark.parametrize("number", [np.float32, np.int64])
def test_numpy_numbers_are_numbers(number):
    graph = small_tree()
    for v in graph:
        graph.nodes[v].update(cost=number(graph.nodes[v]["cost"]), error=number(2))
    assert Hierarchy.from_networkx(graph).attribute("error").tolist() == [2, 2, 2]


def test_another_attribute_may_hold_the_cost():
    graph = small_tree()
    set_all(graph, "bytes", 7, 7, 7)
    assert Hierarchy.from_networkx(graph, cost="bytes").node_cost.tolist() == [7, 7, 7]


@pytest.mark.parametrize("graph", [networkx.Graph([(0, 1)]), networkx.MultiDiGraph([(0, 1), (0, 1)]), {0: [1]}, None])
def test_only_simple_directed_graphs_are_read(graph):
    with pytest.raises(HierarchyError, match="DiGraph"):
        Hierarchy.from_networkx(graph)


@pytest.mark.parametrize("cost", [None, "3", True, [1]])
def test_a_node_without_a_cost_is_named(cost):
    graph = small_tree()
    graph.nodes["left"]["cost"] = cost
    with pytest.raises(HierarchyError, match="'left'"):
        Hierarchy.from_networkx(graph)


def test_an_empty_graph_is_an_empty_hierarchy():
    for mode in ("replace", "dag"):
        assert len(Hierarchy.from_networkx(networkx.DiGraph(), mode=mode)) == 0


def test_without_networkx_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, hierarchy = small_tree(), Hierarchy.flat([1, 1])
    monkeypatch.setitem(sys.modules, "networkx", None)
    for call in (lambda: Hierarchy.from_networkx(graph), hierarchy.to_networkx):
        with pytest.raises(MissingExtra, match=r"hra\[networkx\]"):
            call()


@pytest.mark.parametrize("value", [np.complex128(1 + 2j), 10**400, "1", None, True])
def test_a_cost_that_is_no_real_number_is_refused_by_its_node(value):
    graph = small_tree()
    graph.nodes["left"]["cost"] = value
    with pytest.raises(HierarchyError, match="no number 'cost'") as caught:
        Hierarchy.from_networkx(graph)
    assert "left" in caught.value.where


def test_attributes_of_any_names_may_stand_beside_those_that_are_read():
    graph = small_tree()
    for name in (3, "size", ("a", 1)):
        set_all(graph, name, 1.0, 2.0, 3.0)
    assert Hierarchy.from_networkx(graph).attribute("size").tolist() == [1.0, 2.0, 3.0]
