"""Inputs that go wrong in practice: each is refused with a typed error, repaired with a warning, or simply works."""

from __future__ import annotations

import math
import warnings
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.errors import ArrayError, BudgetTooSmall, HierarchyError, HraError, InvalidBudget, MetricError, RepairWarning
from hra.model.hierarchy import Hierarchy
from hra.model.problem import check_number
from hra.traversals.in_turn import InTurn
from hra.traversals.soft_cut import SoftCut
from tests.helpers.allocators import Plain, Table, allocate, problem_of
from tests.helpers.traversals import TRAVERSALS

TREE = Hierarchy.tree([-1, 0, 0], [1, 1, 1])
MODES = ["replace", "child", "add"]
traversals = pytest.mark.parametrize("traversal", TRAVERSALS.values(), ids=TRAVERSALS)


@pytest.mark.case(55)
def test_scores_that_are_not_a_number_are_refused_with_the_first_node():
    with pytest.raises(MetricError, match="node 1"):
        problem_of(Hierarchy.flat([1, 1, 1]), [0.5, np.nan, np.nan], "gain")


@pytest.mark.case(55)
def test_negative_scores_count_as_zero():
    with pytest.warns(RepairWarning, match="1 negative gains"):
        allocation = allocate(Hierarchy.flat([1, 1]), [-3, 2], 2, kind="gain")
    assert (allocation.gain, allocation.cut.tolist()) == (2, [1])


@pytest.mark.case(56)
@traversals
def test_equal_scores_give_the_same_choice_every_time(traversal):
    choices = {
        tuple(allocate(Hierarchy.flat(np.ones(50)), np.ones(50), 20, traversal, "gain").cut.tolist()) for _ in range(3)
    }
    assert len(choices) == 1
    (choice,) = choices
    # A threshold cannot tell equal scores apart and takes none; so does the hull without a fill.
    assert choice in ((), tuple(range(20)))


@pytest.mark.case(57)
@traversals
def test_a_budget_of_zero_is_served_where_the_base_is_free(traversal):
    allocation = allocate(Hierarchy.flat([1, 0]), [1, 1], 0, traversal, "gain")
    assert allocation.cost == 0
    with pytest.raises(BudgetTooSmall):
        allocate(TREE, [1, 0, 0], 0, traversal)


@pytest.mark.case(58)
@pytest.mark.parametrize(
    "budget",
    [
        *(-1, -1e-9, float("nan"), True, np.True_, "7", None, 1j, np.array(True), np.array([7])),
        *(Fraction(-1, 3), Decimal("NaN"), Decimal("sNaN"), Decimal(-1)),
    ],
)
def test_a_budget_that_is_negative_or_no_number_is_refused(budget):
    with pytest.raises(InvalidBudget):
        allocate(TREE, [1, 0, 0], budget)


@pytest.mark.parametrize(
    "budget", [3, np.int8(3), np.float32(3), Fraction(3), Decimal(3), np.array(3), np.array(3.0), Fraction(7, 2)]
)
def test_a_budget_may_be_any_real_number(budget):
    assert allocate(Hierarchy.flat(np.ones(5)), np.arange(1, 6), budget, kind="gain").cost == 3


@given(st.fractions(0, 4, max_denominator=1000), st.sampled_from([0.1, 1 / 3, 0.7, 1.0]))
def test_fractions_and_decimals_are_never_rounded_in_favour_of_the_budget(exact, cost):
    hierarchy = Hierarchy.flat(np.full(9, cost))
    spent = allocate(hierarchy, np.ones(9), exact, kind="gain").cost
    assert hierarchy.units.exactly(spent) <= exact or float(spent) == float(exact)
    assert check_number(exact) in (float(exact), math.nextafter(float(exact), 0.0))


def test_a_third_is_below_a_third_and_a_tenth_is_a_tenth():
    assert Fraction(check_number(Fraction(1, 3))) < Fraction(1, 3)
    assert check_number(Decimal("0.1")) == check_number(Fraction(1, 10)) == 0.1
    assert check_number(Decimal("Infinity")) == check_number(10**400) == math.inf


@pytest.mark.case(59)
@traversals
def test_a_fractional_budget_is_kept_and_an_infinite_one_means_everything_that_gains(traversal):
    hierarchy = Hierarchy.flat([1, 1, 1, 1, 1])
    assert allocate(hierarchy, np.arange(1, 6), 3.7, traversal, "gain").cost == 3
    assert allocate(hierarchy, np.arange(1, 6), float("inf"), traversal, "gain").cost == 5


@pytest.mark.case(60)
def test_a_budget_below_the_coarsest_level_is_refused_with_the_minimum():
    with pytest.raises(BudgetTooSmall, match="7 tokens") as caught:
        allocate(Hierarchy.tree([-1, 0], [7, 9], cost_unit="tokens"), [1, 0], 6)
    assert caught.value.fix == "use at least 7 tokens"


@pytest.mark.case(61)
@traversals
@pytest.mark.parametrize("mode", MODES)
def test_more_budget_than_full_detail_costs_gives_full_detail(traversal, mode):
    hierarchy = Hierarchy.tree([-1, 0, 0, 1, 1], np.ones(5), mode=mode)
    allocation = allocate(hierarchy, [9, 4, 2, 1, 1], 1000, traversal)
    assert allocation.selected.all()
    assert allocation.cost == hierarchy.total_cost


@pytest.mark.case(62)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("parent", "nodes"), [([-1, 2, 3, 1], {1, 2, 3}), ([0], {0}), ([1, 0], {0, 1})])
def test_a_cycle_is_refused_with_its_nodes(mode, parent, nodes):
    with pytest.raises(HierarchyError, match="cycle") as caught:
        Hierarchy.tree(parent, np.ones(len(parent)), mode=mode)
    named = list(map(int, caught.value.where.split(" <- ")))
    assert set(named) == nodes
    assert named[0] == named[-1]
    assert all(parent[fine] == coarse for fine, coarse in pairwise(named))


@pytest.mark.case(62)
def test_a_cycle_of_a_dag_or_of_groups_is_refused():
    for hierarchy in (
        lambda: Hierarchy.dag([1, 1, 1], [(0, 1), (1, 2), (2, 1)]),
        lambda: Hierarchy.dag([1], [(0, 0)]),
        lambda: Hierarchy.groups([1, 1], [0, 1], [1, 0]),
        lambda: Hierarchy.groups([1], [0], [0]),
        lambda: Hierarchy.from_networkx(cyclic_graph(), mode="dag"),
        lambda: Hierarchy.from_networkx(cyclic_graph(), mode="replace"),
    ):
        with pytest.raises(HierarchyError, match="cycle"):
            hierarchy()


def cyclic_graph() -> networkx.DiGraph:
    return with_costs(networkx.DiGraph([("a", "b"), ("b", "a")]))


def with_costs(graph: networkx.DiGraph) -> networkx.DiGraph:
    """The graph, every node of cost 1."""
    for node in graph:
        graph.nodes[node]["cost"] = 1
    return graph


def test_a_long_cycle_is_named_in_short():
    with pytest.raises(HierarchyError, match="cycle") as caught:
        Hierarchy.tree(np.roll(np.arange(100_000), 1), np.ones(100_000))
    assert len(caught.value.where) < 200


@pytest.mark.case(63)
@pytest.mark.parametrize("parent", [3, 99, -2, 2**40])
def test_an_orphan_whose_parent_does_not_exist_is_refused_by_index(parent):
    with pytest.raises(ArrayError, match=rf"parent\[2\] = {parent}"):
        Hierarchy.tree([-1, 0, parent], [1, 1, 1])


@pytest.mark.case(64)
@pytest.mark.parametrize("mode", MODES)
def test_children_may_come_before_their_parents(mode):
    hierarchy = Hierarchy.tree([2, 2, 4, 4, -1], np.ones(5), mode=mode)
    allocation = allocate(hierarchy, [1, 1, 4, 2, 9], np.inf)
    assert allocation.selected.all()
    assert set(allocation.cut.tolist()) == ({0, 1, 2, 3, 4} if mode == "add" else {0, 1, 3})


@pytest.mark.case(65)
def test_a_node_of_a_tree_with_two_parents_is_refused_and_named():
    graph = with_costs(networkx.DiGraph([("a", "c"), ("b", "c")]))
    with pytest.raises(HierarchyError, match="two parents") as caught:
        Hierarchy.from_networkx(graph)
    assert "'c': ['a', 'b']" in caught.value.where
    assert len(Hierarchy.from_networkx(graph, mode="dag").edges) == 2


@pytest.mark.case(66)
@pytest.mark.parametrize("mode", MODES)
def test_errors_that_grow_towards_the_fine_are_repaired_with_a_warning(mode):
    with pytest.warns(RepairWarning, match="not monotone"):
        allocation = allocate(Hierarchy.tree([-1, 0, 0], [1, 1, 1], mode=mode), [1, 5, 5], np.inf)
    assert allocation.gain == 0
    assert allocation.residual == 1


@pytest.mark.case(67)
@traversals
def test_refinements_without_cost_are_taken_if_they_gain(traversal):
    allocation = allocate(Hierarchy.flat([0, 0, 1]), [2, 0, 1], 0, traversal, "gain")
    assert 0 in allocation.cut
    assert allocation.cost == 0
    assert allocation.gap == 0


@pytest.mark.case(68)
@pytest.mark.parametrize("cost", [-1.0, float("nan"), float("inf")])
def test_costs_that_are_negative_or_not_finite_are_refused_by_index(cost):
    for hierarchy in (
        lambda: Hierarchy.tree([-1, 0], [1, cost]),
        lambda: Hierarchy.flat([1, cost]),
        lambda: Hierarchy.chains([2], [1, cost]),
        lambda: Hierarchy.dag([1, cost], []),
        lambda: Hierarchy.groups([1, cost], [-1, 0], [0, -1]),
    ):
        with pytest.raises((HierarchyError, ArrayError), match=r"cost\[1\]"):
            hierarchy()


@pytest.mark.case(69)
def test_the_same_edge_twice_is_one_edge_and_a_multigraph_is_refused():
    assert Hierarchy.dag([1, 1], [(0, 1), (0, 1)]).edges.tolist() == [[0, 1]]
    graph = with_costs(networkx.MultiDiGraph([("a", "b"), ("a", "b")]))
    with pytest.raises(HierarchyError, match="DiGraph"):
        Hierarchy.from_networkx(graph)


@pytest.mark.case(70)
def test_a_chain_of_100_000_levels_works():
    hierarchy = Hierarchy.chains([100_000], np.ones(100_000))
    allocation = allocate(hierarchy, np.arange(100_000, 0, -1.0), 60_000)
    assert (allocation.cost, allocation.status) == (60_000, "optimal")


@pytest.mark.case(71)
def test_a_million_independent_nodes_work():
    gain = np.random.default_rng(0).random(1_000_000)
    allocation = allocate(Hierarchy.flat(np.ones(gain.size)), gain, 250_000, kind="gain")
    assert allocation.gain == pytest.approx(np.sort(gain)[-250_000:].sum())


@pytest.mark.case(72)
@pytest.mark.parametrize("cost", [np.array([2**62, 2**62]), np.array([2**63, 2**63], np.uint64), [1e300, 1e300]])
def test_costs_that_overflow_whole_numbers_are_refused(cost):
    with pytest.raises(HierarchyError, match=r"2\*\*53"):
        Hierarchy.flat(cost)


@pytest.mark.case(73)
def test_inputs_that_change_later_do_not_change_the_hierarchy():
    cost, parent, position = np.ones(3), np.array([-1, 0, 0]), np.zeros((3, 2))
    hierarchy = Hierarchy.tree(parent, cost, attributes={"position": position})
    before = allocate(hierarchy, [4, 1, 1], 3).gain
    cost[:], parent[:], position[:] = np.nan, 7, 7
    assert allocate(hierarchy, [4, 1, 1], 3).gain == before
    assert not hierarchy.attribute("position").any()
    with pytest.raises(ValueError, match="read-only"):
        hierarchy.node_cost[0] = 5


@pytest.mark.case(73)
def test_a_context_that_changes_later_does_not_change_what_was_gained():
    error = np.array([4.0, 3, 1])
    allocation = allocate(Hierarchy.flat([1, 1, 1]), error, 1)
    error[:] = 100
    assert (allocation.gain, allocation.residual, allocation.upper_bound) == (4, 4, 4)


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (partial(Hierarchy.flat, [1]), {"attributes": [1]}),
        (partial(Hierarchy.flat, [1]), {"cost_unit": 3}),
        (hra.Hull, {"spend_all": "no"}),
        (hra.Exact, {"spend_all": 1}),
        (hra.Exact, {"max_states": True}),
        (hra.LevelShares, {"spend_all": None}),
        (hra.LevelShares, {"level": 0}),
        (hra.Apportion, {"rule": 3}),
        (hra.Apportion, {"importance": 3}),
        (hra.Coherent, {"hysteresis": "0.1"}),
        (hra.Coherent, {"max_churn": 2.5}),
        (hra.LazyBestFirst, {"max_expansions": "2"}),
        (hra.LazyBestFirst, {"seconds": "2"}),
        (hra.LazyBestFirst, {"look_ahead": 0.5}),
        (SoftCut, {"temperature": "cold"}),
        (InTurn, {"rules": 3}),
        (InTurn, {"rules": ((1, 2),)}),
    ],
)
def test_options_of_another_type_are_refused(make: Any, options: dict[str, Any]):
    with pytest.raises(HraError, match=f"{next(iter(options))} must be"):
        make(**options)


def test_arguments_in_the_wrong_place_are_named():
    torch = pytest.importorskip("torch")
    soft, lazy, gain = SoftCut(0.1), hra.LazyBestFirst(), torch.ones(1)
    given: Any = {"tree": TREE, "gain": gain, "array": np.ones(1), "text": "2"}
    plain = Plain(TREE, Table([1, 0, 0]), hra.Hull())
    for call, name in (
        (lambda: soft.distribution(given["text"], gain, 2), "hierarchy"),
        (lambda: soft.distribution(TREE, given["array"], 2), "gain"),
        (lambda: lazy.allocate(given["tree"], given["tree"], 2), "hierarchy"),
        (lambda: hra.sweep(plain, None, given["array"][0]), "budgets"),
        (lambda: hra.sweep(plain, None, [2], hra.Hull()), "traversals"),  # pyright: ignore[reportArgumentType]
    ):
        with pytest.raises(HraError, match=f"{name} must be"):
            call()
    for budget in ("2", None, True):
        with pytest.raises(InvalidBudget):
            soft.probabilities(TREE, gain, budget)  # pyright: ignore[reportArgumentType]
    large = Hierarchy.tree([-1, 0, 0], [1234567.25, 1, 1])
    with pytest.raises(BudgetTooSmall, match=r"use at least 1234567\.25"):
        soft.probabilities(large, gain, 2)


def test_costs_that_overflow_are_refused_without_a_warning():
    with warnings.catch_warnings(), pytest.raises(HierarchyError, match=r"2\*\*53"):
        warnings.simplefilter("error")
        Hierarchy.flat([1e308] * 5)


def test_parents_may_be_floats_that_are_whole():
    whole = Hierarchy.tree([-1.0, 0.0], [1, 1]).node_parent
    assert whole is not None and whole.tolist() == [-1, 0]
    for parent, message in (
        ([-1.0, 0.5], "not a whole number"),
        ([-1.0, np.nan], "not a whole number"),
        ([-1, np.inf], "range"),
    ):
        with pytest.raises(ArrayError, match=message) as caught:
            Hierarchy.tree(parent, [1, 1])
        assert caught.value.where == "parent[1]"


@pytest.mark.parametrize("mode", ["add", "replace"])
def test_an_order_that_would_not_count_is_refused(mode):
    with pytest.raises(HierarchyError, match="order"):
        Hierarchy.tree([-1, 0, 0], [1, 1, 1], mode=mode, order=[0, 1, 2])
