"""Batches against rational arithmetic: the hull on every backend, and exact batches."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import hra
from hra.allocating.allocation import Allocation
from hra.allocating.exact_batch import exact_solutions
from hra.kernels.cut import LevelForest, price_search
from tests.helpers.examples import many
from tests.helpers.instances import FAMILIES, Instance, instances
from tests.helpers.judging import judge
from tests.helpers.rational import Exactly

pytestmark = pytest.mark.unverified
ANY = st.sampled_from(sorted(FAMILIES)).flatmap(instances)


def rows_of(instance: Instance) -> np.ndarray:
    """The gains, and the same the other way round."""
    return np.stack([instance.gain, instance.gain[::-1]])


@many
@given(ANY)
def test_exact_batches_prove_what_they_say(instance):
    rows = rows_of(instance)
    for row, solution in zip(rows, exact_solutions(instance.hierarchy, rows, instance.budget), strict=True):
        one = Instance(instance.hierarchy, row, instance.budget)
        allocation = Allocation(one.problem, solution, 0.0)
        best = Exactly.of(allocation.problem).best()
        assert best is not None
        judge(allocation, best)


@many
@given(ANY | instances("whole forests"), st.sampled_from(["numba", "reference", "warp"]))
def test_batches_bound_every_choice_on_every_backend(instance, backend):
    hierarchy, rows = instance.hierarchy, rows_of(instance)
    assume(hierarchy.parent is not None)
    assume(backend == "numba" or (hierarchy.units.size == 1 and not hierarchy.shrinks))
    found = hra.allocate_batch(hierarchy, rows, instance.budget, backend=backend)
    for i, row in enumerate(rows):
        exactly = Exactly.of(Instance(hierarchy, row, instance.budget).problem)
        selected = found.selected[i]
        assert hierarchy.is_valid(selected)
        assert exactly.affordable(exactly.spent(selected))
        assert found.cost[i] <= instance.budget
        best = exactly.best()
        assert best is not None
        assert exactly.gained(selected) <= best <= Fraction(float(found.upper_bound[i]))


@many
@given(instances("whole forests"))
def test_bounds_of_level_sweeps_are_rounded_outward_and_the_same_on_every_backend(instance):
    hierarchy, rows = instance.hierarchy, rows_of(instance)
    levels, order = tuple(hierarchy.level_offsets.tolist()), (hierarchy.parent, hierarchy.first_child)
    forest = LevelForest(levels, *order, hierarchy.unit_cost, hierarchy.base_cost)
    capacity = np.full(2, hierarchy.capacity(instance.budget))
    found, same = (price_search(forest, rows, capacity, backend) for backend in ("reference", "warp"))
    for name in ("selected", "cost", "gain", "bound", "price"):
        np.testing.assert_array_equal(getattr(found, name), getattr(same, name))
    for row, bound in zip(rows, found.bound.tolist(), strict=True):
        best = Exactly.of(Instance(hierarchy, row, instance.budget).problem).best()
        assert best is not None
        assert best <= Fraction(bound)
