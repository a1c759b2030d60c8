"""Hull curves against single solves and against enumeration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import hra
from hra.allocating.curve import curve
from hra.model.hierarchy import Hierarchy
from hra.testing.traversal import closed_sets
from tests.helpers.allocators import Plain, Table, allocate
from tests.helpers.hierarchies import FORESTS, KINDS, case
from tests.helpers.instances import Instance, instances
from tests.helpers.rational import Exactly
from tests.helpers.rational import closed_sets as every_set

seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=seeds)
@example(seed=1318)  # groups: one refinement has a cost, and all prices are its own ratio
def test_points_are_concave_and_never_above_what_is_possible(kind, seed):
    hierarchy, values, _ = case(kind, seed)
    found = Plain(hierarchy, Table(values, kind="gain"), hra.Hull()).curve(None)
    steps, rises = np.diff(found.cost), np.diff(found.gain)
    assert found.cost[0] >= hierarchy.base_cost and (steps > 0).all() and (rises > 0).all()
    assert (np.diff(rises / steps) <= 1e-9).all()
    sets = closed_sets(hierarchy)
    cost, gain = (
        sets @ hierarchy.cost + hierarchy.base_cost,
        sets @ allocate(hierarchy, values, kind="gain", budget=np.inf).problem.gain,
    )
    for c, g in zip(found.cost, found.gain, strict=True):
        assert g == pytest.approx(gain[cost <= c + 1e-9].max(), rel=1e-9), "a hull point is optimal at its own cost"
    assert found.gain[-1] == pytest.approx(gain.max())


@pytest.mark.parametrize("kind", FORESTS)
@given(seed=seeds)
def test_a_point_is_what_the_hull_finds_at_its_cost(kind, seed):
    hierarchy, values, _ = case(kind, seed, 60)
    found = Plain(hierarchy, Table(values, kind="gain"), hra.Hull()).curve(None)
    for cost, gain, residual in zip(found.cost[::3], found.gain[::3], found.residual[::3], strict=True):
        single = allocate(hierarchy, values, cost, hra.Hull(finish="none"), "gain")
        assert (single.gain, single.residual) == (pytest.approx(gain), pytest.approx(residual, abs=1e-9))


def test_nothing_to_gain_is_one_point():
    found = Plain(Hierarchy.tree([-1, 0], [2, 1], mode="add"), Table([0, 0]), hra.Hull()).curve(None)
    assert (found.cost.tolist(), found.gain.tolist(), found.residual.tolist()) == ([2], [0], [0])


@given(instances("shrinking") | instances("uneven costs") | instances("decimal"))
@example(Instance(Hierarchy.tree([-1, 0, 1], [2, 1, 5]), np.array([3.0, 4.0]), 2.0))  # to refine the root saves 1
@example(Instance(Hierarchy.flat([1e14, 1e-9]), np.array([1.0, 3.0]), 0.0))  # a cost that no common unit shows
@example(Instance(Hierarchy.chains([3], [0.2, 0.1, 1.0]), np.array([1.0, 0.5]), 0.2))
@example(Instance(Hierarchy.dag([1, 1, 1], [(0, 2), (1, 2)]), np.array([0.0, 0.0, 5e-324]), 0.0))
@example(Instance(Hierarchy.flat([1 / 3] * 5), np.arange(1.0, 6.0), 0.0))  # five thirds are no double
def test_a_budget_of_what_a_point_costs_pays_for_it(instance):
    hierarchy, exactly = instance.hierarchy, Exactly.of(instance.problem)
    found = curve(replace(instance.problem, budget=np.inf))
    sets = [(exactly.spent(selected), float(exactly.gained(selected))) for selected in every_set(exactly)]
    whole = float(exactly.everything)
    if hierarchy.parent is not None:  # on graphs what costs less than nothing may be left
        assert found.gain[-1] == pytest.approx(whole, rel=1e-9)
    for cost, gain, residual in zip(found.cost, found.gain, found.residual, strict=True):
        assert max(g for spent, g in sets if spent <= hierarchy.units.exactly(cost)) >= gain - 1e-12 * whole
        assert gain + residual == pytest.approx(instance.problem.base_error, rel=1e-9)


def test_where_full_detail_costs_less_than_the_base_the_curve_does_not_turn_back():
    # Two parts are refined at no cost, and what replaces both costs less than either.
    hierarchy = Hierarchy.groups([2, 2, 2, 2, 1], [-1, -1, 0, 1, 2], [0, 1, 2, 2, -1])
    line = curve(hra.solve(hierarchy, np.inf, errors=[2.0, 2.0, 2.0, 2.0, 1.0]).problem)
    assert (line.cost.tolist(), line.gain.tolist(), line.residual.tolist()) == ([1.0], [3.0], [1.0])
