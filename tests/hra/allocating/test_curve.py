"""Hull curves against single solves and against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import hra
from hra.model.hierarchy import Hierarchy
from tests.helpers.allocators import Plain, Table, allocate
from tests.helpers.hierarchies import FORESTS, KINDS, case
from tests.helpers.references import closed_sets

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
