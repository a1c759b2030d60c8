"""The hierarchy's arrays and queries, against loops over nodes."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.errors import ArrayError, HierarchyError, MetricError
from hra.model.hierarchy import Hierarchy
from tests.helpers.allocators import allocate
from tests.helpers.hierarchies import KINDS, case, random_closed_set, random_tree

seeds = st.integers(0, 2**32 - 1)
kinds = pytest.mark.parametrize("kind", KINDS)


def columns(hierarchy: Hierarchy) -> list[np.ndarray]:
    """Every array that a hierarchy hands out."""
    given = ["node_cost", "added_by", "removed_by", "node_parent", "cost", "parent", "edges", "level_offsets"]
    pairs = (hierarchy.successors, hierarchy.predecessors, hierarchy.added_nodes, hierarchy.removed_nodes)
    arrays = [getattr(hierarchy, name) for name in given] + [array for pair in pairs for array in pair]
    return [array for array in arrays if array is not None] + list(hierarchy.node.values())


@kinds
@given(seed=seeds)
def test_coarse_comes_before_fine_in_every_numbering(kind, seed):
    hierarchy, _, _ = case(kind, seed, 40)
    assert (hierarchy.edges[:, 0] < hierarchy.edges[:, 1]).all()
    assert (np.diff(hierarchy.edges[:, 1]) >= 0).all()
    level = np.repeat(np.arange(hierarchy.level_offsets.size - 1), np.diff(hierarchy.level_offsets))
    assert level.size == len(hierarchy)
    for r in range(len(hierarchy)):
        before = [level[a] for a, b in hierarchy.edges.tolist() if b == r]
        assert level[r] == (max(before) + 1 if before else 0)


@kinds
@given(seed=seeds)
def test_the_children_of_a_forest_are_contiguous_and_named_by_parent(kind, seed):
    hierarchy, _, _ = case(kind, seed, 40)
    if hierarchy.parent is None:
        assert np.bincount(hierarchy.edges[:, 1]).max() > 1
        return
    for r in range(len(hierarchy)):
        children = np.flatnonzero(hierarchy.parent == r)
        assert (np.diff(children) == 1).all()
        assert children.tolist() == [b for a, b in hierarchy.edges.tolist() if a == r]


@kinds
@given(seed=seeds)
def test_the_adjacency_lists_agree_with_the_edges(kind, seed):
    hierarchy, _, _ = case(kind, seed, 30)
    edges = hierarchy.edges.tolist()
    tables = [
        (hierarchy.successors, [[b for a, b in edges if a == r] for r in range(len(hierarchy))]),
        (hierarchy.predecessors, [[a for a, b in edges if b == r] for r in range(len(hierarchy))]),
        (hierarchy.added_nodes, [np.flatnonzero(hierarchy.added_by == r).tolist() for r in range(len(hierarchy))]),
        (hierarchy.removed_nodes, [np.flatnonzero(hierarchy.removed_by == r).tolist() for r in range(len(hierarchy))]),
    ]
    for (offsets, indices), expected in tables:
        assert [indices[a:b].tolist() for a, b in pairwise(offsets)] == expected


@kinds
@given(seed=seeds)
def test_taking_refinements_one_by_one_leads_to_the_active_nodes_and_the_cost(kind, seed):
    hierarchy, _, rng = case(kind, seed, 30)
    selected = random_closed_set(rng, hierarchy)
    active = set(np.flatnonzero(hierarchy.added_by < 0).tolist())
    assert sum(hierarchy.node_cost[v] for v in active) == hierarchy.base_cost
    cost = hierarchy.base_cost
    for r in np.flatnonzero(selected):
        gone = set(np.flatnonzero(hierarchy.removed_by == r).tolist())
        assert gone <= active, "removes a node that is not there"
        active = (active - gone) | set(np.flatnonzero(hierarchy.added_by == r).tolist())
        cost += hierarchy.cost[r]
        assert sum(hierarchy.node_cost[v] for v in active) == cost
    assert set(np.flatnonzero(hierarchy.active_nodes(selected)).tolist()) == active


@kinds
@given(seed=seeds)
def test_full_detail_costs_the_total(kind, seed):
    hierarchy, _, _ = case(kind, seed, 30)
    everything = np.ones(len(hierarchy), bool)
    assert hierarchy.node_cost[hierarchy.active_nodes(everything)].sum() == hierarchy.total_cost


@given(seed=seeds)
def test_the_cut_of_a_replace_tree_has_one_node_on_every_path(seed):
    rng = np.random.default_rng(seed)
    hierarchy = random_tree(rng, int(rng.integers(1, 30)), "replace")
    active = hierarchy.active_nodes(random_closed_set(rng, hierarchy))
    parent = hierarchy.node_parent
    assert parent is not None
    for leaf in set(range(parent.size)) - set(parent.tolist()):
        path = [leaf]
        while parent[path[-1]] >= 0:
            path.append(int(parent[path[-1]]))
        assert active[path].sum() == 1


@given(seed=seeds)
def test_the_cut_of_a_child_tree_holds_a_node_until_all_its_children_came(seed):
    rng = np.random.default_rng(seed)
    hierarchy = random_tree(rng, int(rng.integers(1, 30)), "child")
    selected = random_closed_set(rng, hierarchy)
    parent, came = hierarchy.node_parent, np.r_[selected, False][hierarchy.added_by] | (hierarchy.added_by < 0)
    assert parent is not None
    for v in range(parent.size):
        children = np.flatnonzero(parent == v)
        assert hierarchy.active_nodes(selected)[v] == (came[v] and not (children.size and came[children].all()))


def test_child_by_child_adds_the_children_in_falling_order():
    hierarchy = Hierarchy.tree([-1, 0, 0, 0, 0], np.ones(5), mode="child", order=[0, 2, 9, 1, 5])
    assert hierarchy.added_by[[2, 4, 1, 3]].tolist() == [0, 1, 2, 3]
    assert hierarchy.cost.tolist() == [1, 1, 1, 0]
    assert hierarchy.removed_by.tolist() == [3, -1, -1, -1, -1]


def test_costs_of_each_mode():
    parent, cost = [-1, 0, 0, 1], [3, 2, 4, 5]
    assert Hierarchy.tree(parent, cost, mode="replace").cost.tolist() == [3, 3]
    assert Hierarchy.tree(parent, cost, mode="add").cost.tolist() == [2, 4, 5]
    assert Hierarchy.tree(parent, cost, mode="child").cost.tolist() == [2, 1, 3]
    assert Hierarchy.chains([2, 2], cost).cost.tolist() == [2, 5]
    assert Hierarchy.flat(cost).cost.tolist() == [3, 2, 4, 5]
    groups = Hierarchy.groups([2, 3, 4, 5, 6, 8], [-1, -1, 1, 1, 0, 0], [1, 1, 0, -1, -1, -1])
    assert groups.cost.tolist() == [4 + 5 - 2 - 3, 6 + 8 - 4]


@pytest.mark.parametrize(
    "hierarchy", [Hierarchy.flat([]), Hierarchy.tree([], []), Hierarchy.dag([], []), Hierarchy.chains([], [])]
)
def test_an_empty_hierarchy_can_be_asked_everything(hierarchy):
    assert (len(hierarchy), hierarchy.base_cost, hierarchy.total_cost) == (0, 0, 0)
    assert hierarchy.is_valid(np.empty(0, bool))
    assert hierarchy.active_nodes(np.empty(0, bool)).size == 0
    allocation = allocate(hierarchy, [], 5)
    assert (allocation.gain, allocation.upper_bound, allocation.cost, allocation.status) == (0, 0, 0, "optimal")
    assert allocation.max_error == allocation.residual == 0


@kinds
@given(seed=seeds)
def test_is_valid_knows_every_selection(kind, seed):
    hierarchy, _, rng = case(kind, seed)
    selected = rng.random(len(hierarchy)) < 0.6
    expected = all(selected[a] or not selected[b] for a, b in hierarchy.edges.tolist())
    assert hierarchy.is_valid(selected) == expected


@kinds
def test_every_array_is_read_only(kind):
    hierarchy, _, _ = case(kind, 5, 20)
    assert not any(array.flags.writeable for array in columns(hierarchy))


def test_arrays_are_copied():
    parent, cost, score = np.array([-1, 0, 0]), np.array([1.0, 2, 3]), np.array([1.0, 2, 3])
    hierarchy = Hierarchy.tree(parent, cost, attributes={"score": score})
    parent[:], cost[:], score[:] = -1, 0, 0
    assert hierarchy.node_parent is not None
    assert hierarchy.node_parent.tolist() == [-1, 0, 0]
    assert hierarchy.node_cost.tolist() == hierarchy.attribute("score").tolist() == [1, 2, 3]
    edges, added, removed = np.array([[0, 1]]), np.array([-1, 0]), np.array([0, -1])
    dag, groups = Hierarchy.dag([1, 1], edges), Hierarchy.groups([1, 1], added, removed)
    edges[:], added[:], removed[:] = 0, 5, 5
    assert dag.edges.tolist() == [[0, 1]]
    assert groups.added_by.tolist() == [-1, 0]
    assert groups.removed_by.tolist() == [0, -1]
    assert all(array.flags.writeable for array in (parent, cost, score, edges, added, removed))


def test_arrays_of_a_topology_are_copied_too():
    from hra.model import topology

    cost, parent = np.ones(3), np.array([-1, 0, 0], np.int32)
    hierarchy = Hierarchy.from_topology(cost, topology.replace(parent), node_parent=parent)
    assert cost.flags.writeable
    assert parent.flags.writeable
    cost[:] = 7
    assert hierarchy.node_cost.tolist() == [1, 1, 1]


def test_refinements_given_in_level_order_keep_their_numbers():
    for edges in ([(0, 2), (1, 3)], [(0, 3), (1, 2), (0, 2)]):
        assert Hierarchy.dag([1, 2, 3, 4], edges).cost.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("device", ["plain", "requires_grad"])
def test_torch_tensors_are_taken(device):
    torch = pytest.importorskip("torch")
    cost = torch.tensor([1.0, 2, 3], requires_grad=device == "requires_grad")
    hierarchy = Hierarchy.tree(torch.tensor([-1, 0, 0]), cost, attributes={"center": torch.zeros(3, 2)})
    assert hierarchy.cost.tolist() == [4]
    assert hierarchy.attribute("center").shape == (3, 2)
    with torch.no_grad():
        cost[:] = 0
    assert hierarchy.node_cost.tolist() == [1, 2, 3]
    allocation = allocate(hierarchy, torch.tensor([3.0, 1, 1]), 9)
    assert allocation.gain == 1


def test_half_precision_tensors_are_taken():
    torch = pytest.importorskip("torch")
    for dtype in (torch.float16, torch.bfloat16):
        assert Hierarchy.flat(torch.ones(3, dtype=dtype)).cost.tolist() == [1, 1, 1]


def test_a_missing_attribute_is_named_with_those_that_there_are():
    hierarchy = Hierarchy.flat([1, 2], attributes={"radius": [1, 2], "area": [3, 4]})
    with pytest.raises(MetricError, match="'center'") as caught:
        hierarchy.attribute("center")
    assert "area, radius" in caught.value.where
    assert hierarchy.attribute("area").tolist() == [3, 4]
    with pytest.raises(TypeError):
        hierarchy.node["area"] = np.zeros(2)  # pyright: ignore[reportIndexIssue]


@pytest.mark.parametrize(
    ("values", "message"),
    [([1, 2, 3], "expected 2"), (5, "expected 2"), ([[1, 2], [3]], "array"), (np.array([None, 1]), "object")],
)
def test_an_attribute_has_one_number_or_row_per_node(values, message):
    with pytest.raises(ArrayError, match=message):
        Hierarchy.flat([1, 2], attributes={"area": values})


def test_an_unknown_mode_and_wrong_chains_are_refused():
    with pytest.raises(HierarchyError, match="mode"):
        Hierarchy.tree([-1], [1], mode="split")  # pyright: ignore[reportArgumentType]
    with pytest.raises(HierarchyError, match="chains of 3 nodes, but 2"):
        Hierarchy.chains([2, 1], [1, 2])
    with pytest.raises(ArrayError, match="lengths"):
        Hierarchy.chains([2, 0], [1, 2])
    with pytest.raises(ArrayError, match=r"\[E, 2\]"):
        Hierarchy.dag([1, 2, 3], [[0, 1, 2]])


def test_finer_nodes_may_cost_less_than_what_they_replace():
    hierarchy = Hierarchy.tree([-1, 0, 0, 1], [1, 5, 1, 3])
    assert hierarchy.cost.tolist() == [5, -2]
    assert (hierarchy.shrinks, hierarchy.total_cost, hierarchy.largest_cost) == (True, 4, 6)


def test_the_representation_names_what_it_is():
    assert repr(Hierarchy.tree([-1, 0, 0], [1, 1, 1], cost_unit="tokens")) == (
        "Hierarchy(forest of 1 refinements over 3 nodes, cost in tokens)"
    )
    assert "DAG of 3 refinements" in repr(Hierarchy.dag([1, 1, 1], [(0, 2), (1, 2)]))


@pytest.mark.parametrize("mode", ["replace", "child", "add"])
def test_a_chain_of_depth_100_000_in_any_order_is_solved(mode):
    size = 100_000
    place = np.random.default_rng(0).permutation(size)
    parent = np.empty(size, int)
    parent[place] = np.r_[-1, place[:-1]]
    hierarchy = Hierarchy.tree(parent, np.ones(size), mode=mode)
    assert len(hierarchy) == size - 1
    assert hierarchy.level_offsets.size == size
    for traversal in (hra.Hull(spend_all=True), hra.BestFirst(), hra.Threshold()):
        allocation = allocate(hierarchy, np.arange(size, 0.0, -1)[np.argsort(place)], size // 2, traversal)
        assert allocation.cost <= size // 2
        assert allocation.gap <= 1


@pytest.mark.case(71)
@pytest.mark.parametrize("mode", ["replace", "child", "add"])
def test_a_million_siblings_are_solved(mode):
    size = 1_000_001
    parent = np.r_[-1, np.zeros(size - 1, int)]
    hierarchy = Hierarchy.tree(parent, np.ones(size), mode=mode)
    error = np.r_[float(size), np.random.default_rng(0).random(size - 1)]
    for traversal in (hra.Hull(), hra.BestFirst(), hra.Threshold()):
        allocation = allocate(hierarchy, error, size // 2, traversal)
        assert allocation.cost <= size // 2
        assert allocation.upper_bound >= allocation.gain


def test_other_costs_are_checked_as_those_of_constructors_are():
    tree = Hierarchy.tree([-1, 0, 0], [1.0, 1.0, 1.0])
    assert replace(tree, node_cost=np.array([1, 2, 2], np.float32)).total_cost == 4.0
    for bad in ([1.0, -1.0, 1.0], [1.0, np.nan, 1.0]):
        with pytest.raises((ArrayError, HierarchyError)):
            replace(tree, node_cost=np.array(bad))


@pytest.mark.parametrize(
    "cost", [[2**53 + 1], [2**52, 2**52, 1], [1, 2**53], np.array([2**63 + 1], np.uint64)], ids=str
)
def test_whole_costs_that_floats_would_round_down_to_the_limit_are_refused(cost):
    assert Hierarchy.flat([2**52, 2**52]).total_cost == 2**53
    with pytest.raises(HierarchyError, match="2\\*\\*53"):
        Hierarchy.flat(cost)


@pytest.mark.parametrize(
    "changed",
    [
        {"edges": np.zeros((0, 2), np.int32)},
        {"edges": np.array([[1, 0]], np.int32)},
        {"edges": np.array([0, 1], np.int32)},
        {"added_by": np.array([-1, 1, 0], np.int32)},
        {"added_by": np.array([-1, 0], np.int32)},
        {"added_by": np.array([-1, 0, 7], np.int32)},
        {"removed_by": np.array([1, 0, -1], np.int32)},
        {"parent": np.array([-1, -1], np.int32)},
        {"parent": None},
        {"level_offsets": np.array([0, 2], np.int32)},
        {"level_offsets": np.array([0, 1, 3], np.int32)},
        {"node_parent": np.array([-1, 0, 9], np.int32)},
        {"node_parent": np.array([-1, 0, 0], np.int32)},
        {"node_parent": np.array([2, 0, 1], np.int32)},
        {"node": {"error": np.zeros(2)}},
    ],
)
def test_fields_that_contradict_each_other_make_no_hierarchy(changed: dict[str, Any]):
    chain = Hierarchy.tree([-1, 0, 1], [1, 2, 3])
    with pytest.raises((HierarchyError, ArrayError)):
        replace(chain, **changed)


def test_a_replaced_hierarchy_has_arrays_of_its_own():
    cost, error = np.array([1.0, 2.0, 4.0]), np.array([3.0, 1.0, 0.0])
    changed = replace(Hierarchy.tree([-1, 0, 1], [1, 2, 3]), node_cost=cost, node={"error": error}, cost_unit="bytes")
    cost[:] = error[:] = 0
    assert changed.total_cost == 4 and changed.attribute("error").tolist() == [3, 1, 0]
    assert changed.cost_unit == "bytes" and hra.solve(changed, 2, errors=[3.0, 1.0, 0.0]).cut.tolist() == [1]


@kinds
@given(seed=seeds)
def test_every_hierarchy_is_what_replacing_nothing_makes_of_it(kind, seed):
    hierarchy, _, _ = case(kind, seed)
    assert replace(hierarchy).same_as(hierarchy)
