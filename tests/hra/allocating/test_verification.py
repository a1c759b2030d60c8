"""The independent check: true statements pass, forged ones do not."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import hra
from hra.allocating.allocation import Allocation
from hra.allocating.verification import verify
from hra.errors import BudgetTooSmall
from hra.model.hierarchy import Hierarchy
from hra.traversals.base import Traversal
from tests.helpers.allocators import allocate
from tests.helpers.claims import forgeries, is_true, small, stating

pytestmark = pytest.mark.unverified
TRAVERSALS: tuple[Traversal, ...] = (hra.Hull(), hra.Exact(), hra.BestFirst(), hra.Exact(max_states=1))


def honest(seed: int) -> Allocation | None:
    """A true allocation; None where nothing can be chosen, or pinned nodes cost too much."""
    rng = np.random.default_rng(seed)
    instance = small(rng)
    if not len(instance.hierarchy):
        return None
    if seed % 2 == 0:
        instance = replace(instance, pinned=(int(rng.integers(instance.hierarchy.node_cost.size)),))
    try:
        return instance.allocate(TRAVERSALS[seed % len(TRAVERSALS)])
    except BudgetTooSmall:
        return None


def test_more_than_a_thousand_forgeries_of_many_kinds_are_refuted():
    caught: Counter[str] = Counter()
    for seed in range(400):
        true = honest(seed)
        if true is None:
            continue
        assert is_true(true)
        assert verify(true).ok
        for kind, forged in forgeries(true, np.random.default_rng(seed)):
            if is_true(forged):
                continue
            assert not verify(forged).ok, (seed, kind)
            caught[kind] += 1
    assert caught.total() >= 1000
    assert len(caught) >= 20
    assert min(caught.values()) >= 10


def test_what_is_true_is_never_refuted_even_with_another_proof():
    # Any price and any flows prove something; where that is not enough, small allocations are searched.
    for seed in range(100):
        true = honest(seed)
        if true is None:
            continue
        for kind, forged in forgeries(true, np.random.default_rng(seed)):
            if is_true(forged):
                assert verify(forged).ok, (seed, kind)


def test_the_statements_are_those_of_the_allocation():
    found = verify(allocate(Hierarchy.flat([1, 2]), [1.0, 3.0], 2, hra.Exact(), "gain"))
    assert found.bound >= 3
    assert found.ok
    assert not found.unproven
    assert any("gain is 3.0" in text for text in found.proven)
    assert any("answer is optimal" in text for text in found.proven)


def test_the_bound_is_that_of_price_and_flows():
    true = allocate(Hierarchy.dag([1, 1, 2], [(0, 2), (1, 2)]), [1.0, 1.0, 8.0], 3, hra.Hull(), "gain")
    gained = Fraction(true.gain)
    assert verify(true).bound <= gained + Fraction(true.certificate.shortfall)


def test_status_optimal_needs_a_bound_that_proves_it():
    true = allocate(Hierarchy.flat([2, 3]), [2.0, 4.0], 4, hra.Hull(), "gain")
    assert true.status == "certified" or true.shortfall == 0
    lie = stating(true, shortfall=0.0, upper_bound=true.gain, solution=replace(true.solution))
    assert lie.status == "optimal"
    assert verify(lie).ok == (true.gain == 4.0)


def test_without_additive_gains_no_bound_is_checked():
    found = verify(allocate(Hierarchy.flat([1, 2]), [1.0, 3.0], 2, hra.Hull(), "gain", additive=False))
    assert found.ok
    assert any("gains do not add up" in text for text in found.proven)


def test_what_a_search_ruled_out_on_a_large_forest_is_stated_as_not_proven_here():
    rng = np.random.default_rng(0)
    parent = (np.arange(400) - 1) // 4
    parent[0] = -1
    hierarchy = Hierarchy.tree(parent, rng.integers(1, 30, parent.size), mode="add")
    true = allocate(hierarchy, rng.random(parent.size), 700, hra.Exact(), "gain")
    found = verify(true)
    assert found.ok
    assert true.certificate.shortfall >= true.shortfall
    assert not found.unproven or true.certificate.shortfall > true.shortfall


@pytest.mark.parametrize("traversal", TRAVERSALS)
def test_no_refinements_at_all(traversal):
    found = verify(allocate(Hierarchy.tree([-1, -1], [1, 1]), [1.0, 2.0], 2, traversal))
    assert found.ok
    assert not found.unproven
