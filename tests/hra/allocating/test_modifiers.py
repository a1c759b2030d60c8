"""Pinned nodes, sequences with hysteresis and limited churn, and what is counted of them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.errors import ArrayError, BudgetTooSmall, HierarchyError
from hra.model.hierarchy import Hierarchy
from hra.testing.traversal import closed_sets
from tests.helpers.hierarchies import case, random_parents
from tests.helpers.modifiers_cases import allocator, kinds, room, seeds
from tests.helpers.traversals import TRAVERSALS


@kinds
@pytest.mark.parametrize("name", TRAVERSALS)
@given(seed=seeds)
def test_pinned_nodes_are_there_and_the_rest_is_as_good_as_promised(kind, name, seed):
    hierarchy, values, rng = case(kind, seed)
    nodes = rng.choice(values.size, int(rng.integers(0, 4)))
    budget = room(rng, hierarchy)
    sets = closed_sets(hierarchy)
    required = hierarchy.added_by[nodes]
    fitting = sets @ hierarchy.cost <= budget - hierarchy.base_cost
    allowed = sets[fitting & sets[:, required[required >= 0]].all(axis=1)]
    if not len(allowed):
        with pytest.raises(BudgetTooSmall):
            allocator(hierarchy, TRAVERSALS[name]).allocate(values, budget, pinned=nodes)
        return
    allocation = allocator(hierarchy, TRAVERSALS[name]).allocate(values, budget, pinned=nodes)
    assert allocation.cost <= budget
    assert allocation.selected[required[required >= 0]].all()
    best = (allowed @ allocation.problem.gain).max()
    assert allocation.gain <= best * (1 + 1e-12) + 1e-12
    assert best <= allocation.upper_bound * (1 + 1e-12) + 1e-12


def test_what_is_pinned_counts_as_base():
    hierarchy = Hierarchy.tree([-1, 0, 1, 0], [1, 1, 1, 1], mode="add")
    allocation = allocator(hierarchy, hra.Hull()).allocate([0, 1, 2, 50], 3, pinned=[2])
    assert allocation.cut.tolist() == [0, 1, 2]
    assert (allocation.gain, allocation.base_error, allocation.cost) == (0, 50, 3)
    with pytest.raises(BudgetTooSmall, match="the pinned nodes cost 3 units"):
        allocator(hierarchy, hra.Hull()).allocate([0, 1, 2, 50], 2, pinned=[2])


def test_what_is_pinned_is_paid_before_what_saves():
    """To refine node 1 would save 3: the message says why a smaller budget is refused, and what serves it."""
    hierarchy = Hierarchy.tree([-1, 0, 1], [1, 5, 2])
    with pytest.raises(BudgetTooSmall) as caught:
        allocator(hierarchy, hra.Hull()).allocate([9, 3, 1], 4, pinned=[1])
    assert caught.value.fix.startswith("use at least 5 units, or pin what refines them")
    with pytest.raises(BudgetTooSmall) as plain:
        allocator(Hierarchy.tree([-1, 0, 1], [1, 5, 6]), hra.Hull()).allocate([9, 3, 1], 4, pinned=[1])
    assert plain.value.fix == "use at least 5 units"
    assert allocator(hierarchy, hra.Hull()).allocate([9, 3, 1], 4, pinned=[2]).cut.tolist() == [2]
    assert allocator(hierarchy, hra.Hull()).allocate([9, 3, 1], 5, pinned=[1]).cut.tolist() == [2]


@pytest.mark.parametrize("nodes", [[4], [-1], [0.5], "all"])
def test_pinned_must_be_nodes(nodes):
    hierarchy = Hierarchy.tree([-1, 0, 1, 0], [1, 1, 1, 1], mode="add")
    with pytest.raises(ArrayError):
        allocator(hierarchy, hra.Hull()).allocate([0, 1, 2, 3], 4, pinned=nodes)


def test_a_sequence_keeps_hierarchies_of_one_structure():
    first = allocator(Hierarchy.flat([1, 1]), hra.Hull()).allocate([1, 2], 1)
    with pytest.raises(HierarchyError, match="hierarchy of other nodes"):
        allocator(Hierarchy.flat([1, 2]), hra.Hull()).allocate([1, 2], 1, previous=first)
    copy = allocator(Hierarchy.flat([1, 1]), hra.Hull())
    assert copy.allocate([2, 1], 1, previous=first).churn == 2


def test_hierarchies_and_allocations_can_be_pickled():
    hierarchy = Hierarchy.tree([-1, 0, 0], [1, 1, 1], mode="add", attributes={"x": [1.0, 2.0, 3.0]})
    allocation = allocator(hierarchy, hra.Hull()).allocate([0, 1, 2], 2)
    copy = pickle.loads(pickle.dumps(allocation))
    assert not any(array.flags.writeable for array in (copy.selected, copy.problem.gain, copy.hierarchy.edges))
    assert copy.cut.tolist() == allocation.cut.tolist()
    assert (copy.gain, copy.upper_bound, copy.max_error) == (allocation.gain, allocation.upper_bound, 1)
    assert copy.hierarchy.node["x"].tolist() == [1, 2, 3]
    with pytest.raises((TypeError, ValueError)):
        copy.hierarchy.node["x"][0] = 5


def assert_carried_by_node(seed: int) -> None:
    """Two orders of the same siblings: changes count nodes, and held answers are valid, affordable and proven."""
    rng = np.random.default_rng(seed)
    parent, size = random_parents(rng, 12, 1 + seed % 2), 12
    first, second = (hra.Hierarchy.tree(parent, np.ones(size), mode="child", order=rng.random(size)) for _ in range(2))
    budget, later = (first.base_cost + int(rng.integers(0, int(first.total_cost))) for _ in range(2))
    before = hra.solve(first, budget, gains=rng.random(size))
    gains, there = rng.random(size), np.append(before.selected, False)[first.added_by]
    for limit in (None, int(rng.integers(0, 4))):
        rule = hra.Coherent(hra.Hull(), hysteresis=float(rng.random()), max_churn=limit)
        after = hra.solve(second, later, gains=gains, traversal=rule, previous=before)
        now = np.append(after.selected, False)[second.added_by]
        assert after.churn == np.count_nonzero(there != now)
        assert second.is_valid(after.selected) and after.cost <= later
        assert hra.verify(after).ok
    unlimited = hra.solve(second, np.inf, gains=gains, traversal=hra.Coherent(max_churn=0), previous=before)
    # What another order forces: to drop what comes after something that is not there, or to fill that in.
    kept, filled = _closed_by_dropping(second, there), _closed_by_filling(second, there)
    forced = min(np.count_nonzero(there) - len(kept), len(filled) - np.count_nonzero(there))
    assert unlimited.churn == forced


def _added(hierarchy: hra.Hierarchy, node: int) -> int:
    """The node whose step comes just before that of ``node``, -1 for none."""
    step = hierarchy.predecessors[1][slice(*hierarchy.predecessors[0][hierarchy.added_by[node] + np.arange(2)])]
    return int(np.flatnonzero(hierarchy.added_by == step[0])[0]) if step.size else -1


def _closed_by_dropping(hierarchy: hra.Hierarchy, there: np.ndarray) -> set[int]:
    kept = set(np.flatnonzero(there).tolist())
    while gone := {node for node in kept if (first := _added(hierarchy, node)) >= 0 and first not in kept}:
        kept -= gone
    return kept


def _closed_by_filling(hierarchy: hra.Hierarchy, there: np.ndarray) -> set[int]:
    filled = set(np.flatnonzero(there).tolist())
    while missing := {first for node in filled if (first := _added(hierarchy, node)) >= 0} - filled:
        filled |= missing
    return filled


@pytest.mark.paths
@given(seed=st.integers(0, 2**32 - 1))
def test_what_was_taken_is_carried_over_to_another_order_of_siblings(seed):
    assert_carried_by_node(seed)


@pytest.mark.slow
def test_what_was_taken_is_carried_over_10000_times():
    for seed in range(10_000):
        assert_carried_by_node(seed)
