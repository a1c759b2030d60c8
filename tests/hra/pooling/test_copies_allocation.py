from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.errors import BudgetTooSmall, InvalidBudget, MetricError, UnitMismatch
from hra.model.hierarchy import Hierarchy
from hra.pooling.copies import allocate_copies
from hra.pooling.copies_allocation import Kind
from tests.helpers.allocators import Plain
from tests.helpers.claims import is_true
from tests.helpers.copies_cases import Rows


@given(st.integers(0, 2**32 - 1))
def test_many_copies_come_near_what_a_pool_of_them_finds(seed: int) -> None:
    """On random graphs that are far rougher than clusters of a mesh; shares of surplus are common to all copies."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(5, 20))
    edges = [(a, b) for b in range(size) for a in range(b) if rng.random() < 2 / size]
    hierarchy = Hierarchy.dag(rng.integers(1, 9, size), np.array(edges, np.int32).reshape(-1, 2))
    count = int(rng.choice([40, 200]))  # with shares of their own, and more
    contexts = [rng.random(size) * 2.0 ** rng.integers(0, 12) for _ in range(count)]
    budget = float(rng.uniform(0.1, 0.8)) * count * hierarchy.total_cost
    found = allocate_copies([Kind(hierarchy, Rows(), contexts)], np.arange(count), budget, hra.Hull())
    pooled = hra.pool(*[Plain(hierarchy, Rows(), hra.Hull())] * count).allocate(contexts, budget)
    assert found.whole.gain >= 0.97 * pooled.whole.gain
    assert found.whole.upper_bound >= pooled.whole.gain


def test_the_base_alone_is_affordable() -> None:
    kind = Kind(Hierarchy.tree([-1, 0], [2, 3]), Rows(), [np.ones(2)] * 3)
    assert allocate_copies([kind], np.arange(3), 6, hra.Hull()).cost == 6


def test_the_union_has_the_shares_of_graphs() -> None:
    graph = Hierarchy.dag([2.0, 1, 1], np.array([[0, 2], [1, 2]], np.int32))
    kind = Kind(graph, Rows(), [np.array([0.0, 3, 1]), np.array([0.0, 1, 2])])
    found = allocate_copies([kind], np.arange(2), 4, hra.Hull()).whole
    assert found.solution.share is not None and found.solution.share.shape == (4,)


class TestSequences:
    def test_hysteresis_counts_what_is_there(self) -> None:
        pixels = Hierarchy.flat([1, 1])
        before = np.array([[True, False], [False, False]])
        kind = Kind(pixels, Rows(), [np.array([1.0, 0.5]), np.array([1.1, 0.4])], before)
        plain, held = (allocate_copies([kind], np.arange(2), 1, t) for t in (hra.Hull(), hra.Coherent(hysteresis=0.2)))
        assert [part.tolist() for part in plain.cuts] == [[], [0]] and plain.churn == 2
        assert [part.tolist() for part in held.cuts] == [[0], []] and held.churn == 0
        assert is_true(held.whole) and held.whole.churn == 0 and held.members[0].churn == 0
        swapped = allocate_copies([kind], np.arange(2), 1, hra.Coherent(hysteresis=0.05))
        assert [part.tolist() for part in swapped.cuts] == [[], [0]]

    def test_outside_of_a_sequence_nothing_changes(self) -> None:
        kind = Kind(Hierarchy.flat([1]), Rows(), [np.ones(1)])
        assert allocate_copies([kind], np.arange(1), 1, hra.Hull()).churn is None


class TestBadInput:
    KIND = Kind(Hierarchy.tree([-1, 0], [2, 3]), Rows(), [np.ones(2)] * 3)

    def test_budgets(self) -> None:
        with pytest.raises(BudgetTooSmall, match="costs 6 units"):
            allocate_copies([self.KIND], np.arange(3), 5, hra.Hull())
        with pytest.raises(InvalidBudget):
            allocate_copies([self.KIND], np.arange(3), float("nan"), hra.Hull())

    def test_units_of_error(self) -> None:
        other = Kind(Hierarchy.flat([1]), Rows(unit="px2"), [np.ones(1)])
        with pytest.raises(UnitMismatch, match="error, px2"):
            allocate_copies([self.KIND, other], np.arange(4), 9, hra.Hull())

    def test_gains_that_overflow(self) -> None:
        kind = Kind(Hierarchy.flat([1]), Rows(), [np.full(1, 1e307)] * 3)
        with pytest.raises(MetricError, match="too large"):
            allocate_copies([kind], np.arange(3), 1, hra.Hull())
