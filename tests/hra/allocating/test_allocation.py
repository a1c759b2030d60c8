"""The result of an allocation and the abstract allocator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.allocating.allocation import Allocation
from hra.allocating.allocator import HierarchicalResourceAllocator
from hra.errors import HraError
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from hra.model.solution import Solution
from hra.testing.traversal import closed_sets
from hra.traversals.base import Traversal
from tests.helpers.allocators import Plain, Table, allocate
from tests.helpers.hierarchies import KINDS, case
from tests.helpers.references import affordable_sets

# One root whose split gains 6, and two children whose splits gain 1 and 2.
TREE = Hierarchy.tree([-1, 0, 0, 1, 1, 2, 2], np.ones(7), cost_unit="tokens")
ERROR = [10, 2, 2, 0.5, 0.5, 0, 0]


@dataclass(frozen=True)
class Fixed(Traversal):
    """Returns what it was given."""

    selected: Any
    upper_bound: float | None = None

    def select(self, problem: Problem) -> Solution:
        return Solution(self.selected, upper_bound=self.upper_bound)


def test_the_numbers_of_an_allocation():
    allocation = allocate(TREE, ERROR, 3, unit="px2")
    assert allocation.selected.tolist() == [True, False, True]
    assert allocation.cut.tolist() == [1, 5, 6]
    assert (allocation.cost, allocation.budget, allocation.utilisation) == (3, 3, 1)
    assert (allocation.base_error, allocation.gain, allocation.residual) == (10, 8, 2)
    assert allocation.max_error == 2
    assert (allocation.upper_bound, allocation.gap, allocation.residual_gap) == (8, 0, 0)
    assert allocation.status == "optimal"
    assert allocation.seconds > 0
    assert repr(allocation) == "3 of 3 tokens, residual 2 px2, the best possible"


def test_gaps_are_relative_to_the_bound_and_to_the_least_residual():
    allocation = allocate(TREE, ERROR, 3, Fixed(np.array([True, False, False]), upper_bound=8.0))
    assert allocation.gap == pytest.approx(2 / 8)
    assert allocation.residual_gap == pytest.approx((4 - 2) / 2)
    assert allocation.status == "certified"
    assert repr(allocation).endswith("within 25 % of the best possible gain (100 % of the residual)")


@pytest.mark.unverified
def test_a_gap_of_nearly_everything_is_printed_as_plain_per_cent():
    nearly = allocate(TREE, [1000, 999, 0, 0.5, 0.5, 0, 0], 4, Fixed(np.array([True, False, False]), upper_bound=250.0))
    assert nearly.gap == pytest.approx(0.996)
    assert "e+" not in repr(nearly)


def test_gaps_without_anything_to_gain_are_zero_and_without_anything_left_infinite():
    nothing = allocate(TREE, np.zeros(7), 4)
    assert (nothing.gap, nothing.residual_gap, nothing.status) == (0, 0, "optimal")
    all_or_nothing = allocate(TREE, [10, 0, 0, 0, 0, 0, 0], 2, Fixed(np.zeros(3, bool), upper_bound=10.0))
    assert all_or_nothing.residual_gap == np.inf
    assert all_or_nothing.gap == 1


def test_a_bound_is_computed_for_traversals_that_have_none():
    allocation = allocate(TREE, ERROR, 3, hra.BestFirst())
    assert allocation.solution.upper_bound is None
    assert allocation.upper_bound == 8


def test_no_certificate_where_gains_do_not_add_up():
    allocation = allocate(TREE, ERROR, 3, additive=False)
    assert allocation.status == "heuristic"
    assert allocation.proof == {"gap": None, "residual_gap": None, "status": "heuristic"}
    assert repr(allocation).endswith("no bound: the metric's gains do not add up")


PRICELESS = st.sampled_from([hra.BestFirst(), hra.BestFirst(by="error"), hra.Threshold()])


@pytest.mark.paths
@given(traversal=PRICELESS, kind=st.sampled_from(list(KINDS)), seed=st.integers(0, 2**32 - 1))
def test_the_printed_answer_does_not_change_when_the_answer_is_read(traversal, kind, seed):
    hierarchy, _, rng = case(kind, seed)
    gain, budget = rng.random(len(hierarchy)), hierarchy.base_cost + float(rng.integers(0, 12))
    # Peaks that fall from coarse to fine, as they do once they are made monotone.
    problem = Problem(hierarchy, gain, 1.0, budget, "gain", True, lambda: np.arange(gain.size, 0.0, -1.0))
    first, read = (Allocation(problem, traversal.solve(problem), 0.0) for _ in range(2))
    _ = read.gap, read.certificate, read.status
    assert repr(first) == repr(read) and first._repr_html_() == read._repr_html_()
    assert "the best possible" in repr(first) or "within" in repr(first)
    assert (first.gap, first.status) == (read.gap, read.status)


@pytest.mark.paths
@given(kind=st.sampled_from(list(KINDS)), seed=st.integers(0, 2**32 - 1))
def test_a_price_is_what_is_taken_above_and_a_least_residual_is_a_bound(kind, seed):
    """At its price no set is worth more than the hull point of a forest; no set leaves less than the least residual."""
    hierarchy, _, rng = case(kind, seed, 8)
    gain, budget = rng.random(len(hierarchy)), hierarchy.base_cost + float(rng.integers(0, 12))
    problem = Problem(hierarchy, gain, float(rng.random()), budget, "gain", True, lambda: gain)
    found = Allocation(problem, hra.Hull(finish="none").solve(problem), 0.0)
    left = problem.base_error - affordable_sets(problem) @ gain
    assert found.least_residual <= left.min() * (1 + 1e-12) + 1e-12 <= found.residual + 1e-11
    assert found.residual_gap >= (found.residual - left.min()) / left.min() - 1e-9
    worth = (closed_sets(hierarchy) * (gain - (found.price or 0.0) * hierarchy.cost)).sum(axis=1)
    here = gain[found.selected].sum() - (found.price or 0.0) * hierarchy.cost[found.selected].sum()
    assert here >= worth.max() - 1e-9 or hierarchy.parent is None


def test_an_answer_without_any_of_a_tiny_gain_is_not_called_optimal():
    tiny = allocate(TREE, [8, 4, 4 - 1e-15, 2, 2, 2, 2 - 1e-15], 4, Fixed(np.zeros(3, bool)))
    assert tiny.gap == 1 and tiny.residual_gap < 1e-12
    assert tiny.status == "certified" and "within 100 %" in repr(tiny)


@pytest.mark.parametrize(
    ("selected", "message"),
    [
        (np.array([False, True, False]), "without its predecessors"),
        (np.array([True, True, True]), "spent 4 of 3"),
        (np.array([True, False]), "one bool per refinement"),
        (np.array([1, 0, 0]), "one bool per refinement"),
    ],
)
def test_a_traversal_that_breaks_its_contract_is_caught(selected, message):
    with pytest.raises(HraError, match=message):
        allocate(TREE, ERROR, 3, Fixed(selected))


@dataclass(frozen=True)
class Reusing(Traversal):
    """Works in arrays of its own, which the next step overwrites."""

    taken: np.ndarray
    share: np.ndarray

    def select(self, problem: Problem) -> Solution:
        hull = hra.Hull(finish="none").solve(problem)
        self.taken[:], self.share[:] = hull.selected, 0.0 if hull.share is None else hull.share
        return Solution(self.taken[:], hull.price, share=self.share)


def test_a_traversal_may_use_its_arrays_again():
    graph = Hierarchy.dag([1, 1, 2], [(0, 2), (1, 2)])
    traversal = Reusing(np.zeros(3, np.bool_), np.zeros(2))
    first = allocate(graph, [1.0, 1.0, 4.0], 4, traversal, "gain")
    share = first.solution.share
    assert share is not None
    taken, shared = first.selected.tolist(), share.tolist()
    second = allocate(graph, [1.0, 1.0, 4.0], 1, traversal, "gain")
    assert first.selected.tolist() == taken != second.selected.tolist()
    traversal.taken[:], traversal.share[:] = False, 7.0
    assert first.selected.tolist() == taken and share.tolist() == shared
    assert hra.verify(first).ok


def test_what_was_selected_is_read_only():
    allocation = allocate(TREE, ERROR, 3)
    with pytest.raises(ValueError, match="read-only"):
        allocation.selected[0] = False


def test_an_allocator_is_abstract_without_realize():
    with pytest.raises(TypeError, match="realize"):
        HierarchicalResourceAllocator(TREE, Table(), hra.Hull())  # pyright: ignore[reportAbstractUsage]


def test_the_context_reaches_the_metric_and_the_allocation():
    allocator = Plain(TREE, Table(), hra.Hull())
    allocation = allocator.allocate(ERROR, 3)
    assert allocation.context is ERROR
    assert allocator.realize(allocation) == [1, 5, 6]


def test_utilisation_of_extreme_budgets():
    hierarchy = Hierarchy.flat([0, 1])
    assert allocate(hierarchy, [1, 1], 0).utilisation == 1
    assert allocate(hierarchy, [1, 1], np.inf).utilisation == 0
    assert "1 units, no budget" in repr(allocate(hierarchy, [1, 1], np.inf))
