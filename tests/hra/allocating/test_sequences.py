from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.allocating.allocation import Allocation
from hra.allocating.sequences import churn, thrash
from hra.model.hierarchy import Hierarchy
from tests.helpers.hierarchies import case
from tests.helpers.modifiers_cases import allocator, kinds, room, seeds


def steps(rng: np.random.Generator, hierarchy: Hierarchy, values: np.ndarray, traversal: hra.Traversal):
    """A sequence of eight steps whose values and budget both wander."""
    found: list[Allocation] = []
    for _ in range(8):
        values = values * np.exp(rng.normal(0, 0.5, values.size))
        previous = found[-1] if found else None
        found.append(allocator(hierarchy, traversal).allocate(values, room(rng, hierarchy), previous=previous))
    return found


@kinds
@given(seed=seeds, limit=st.integers(0, 6))
def test_churn_stays_within_its_limit_unless_the_budget_forces_more(kind, seed, limit):
    hierarchy, values, rng = case(kind, seed, 30)
    found = steps(rng, hierarchy, values, hra.Coherent(max_churn=limit))
    assert found[0].churn is None
    for before, now in pairwise(found):
        dropped = before.selected & ~now.selected
        added = now.selected & ~before.selected
        assert now.churn == dropped.sum() + added.sum()
        if now.churn > limit:
            assert not added.any(), "only what no longer fits may exceed the limit"
            assert before.cost > now.budget
    assert churn(found).tolist() == [a.churn for a in found[1:]]


def test_thrash_counts_returns_within_the_window():
    hierarchy = Hierarchy.flat([1, 1])
    plain = allocator(hierarchy, hra.Hull())
    found = [plain.allocate(values, 1) for values in ([2, 1], [1, 2], [2, 1], [1, 2], [1, 2], [1, 2], [2, 1])]
    assert churn(found).tolist() == [2, 2, 2, 0, 0, 2]
    assert thrash(found, window=60) == 3
    assert thrash(found, window=1) == 2
    assert thrash([]) == 0
