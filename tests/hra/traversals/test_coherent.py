from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import hra
from hra.errors import HraError
from hra.model.hierarchy import Hierarchy
from tests.helpers.hierarchies import case
from tests.helpers.modifiers_cases import allocator, kinds, room, seeds


@kinds
@given(seed=seeds)
def test_without_hysteresis_and_limit_the_past_does_not_matter(kind, seed):
    hierarchy, values, rng = case(kind, seed)
    first = allocator(hierarchy, hra.Hull()).allocate(values, room(rng, hierarchy))
    values, budget = values * np.exp(rng.normal(0, 1, values.size)), room(rng, hierarchy)
    coherent = allocator(hierarchy, hra.Coherent(hysteresis=0)).allocate(values, budget, previous=first)
    plain = allocator(hierarchy, hra.Hull()).allocate(values, budget)
    assert (coherent.selected == plain.selected).all()
    assert coherent.upper_bound == pytest.approx(plain.upper_bound)


def test_hysteresis_keeps_what_is_nearly_as_good():
    hierarchy = Hierarchy.flat([1, 1])
    coherent = allocator(hierarchy, hra.Coherent(hysteresis=0.2))
    first = coherent.allocate([2.0, 1.0], 1)
    kept = coherent.allocate([1.0, 1.1], 1, previous=first)
    assert kept.cut.tolist() == [0] and kept.churn == 0
    changed = coherent.allocate([1.0, 1.3], 1, previous=kept)
    assert changed.cut.tolist() == [1] and changed.churn == 2
    assert kept.upper_bound == pytest.approx(1.1), "the bound is that of the true gains"


@pytest.mark.parametrize("options", [{"hysteresis": -1}, {"hysteresis": float("nan")}, {"max_churn": -1}])
def test_coherent_refuses_bad_options(options):
    with pytest.raises(HraError):
        hra.Coherent(**options)
