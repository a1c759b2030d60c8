"""The threshold where refinements make room again: what fits once may not fit before."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.traversals.threshold import _reachable


@given(st.integers(0, 2**32 - 1))
def test_the_last_threshold_that_fits_is_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, acceptable = int(rng.integers(0, 9)), float(rng.integers(0, 3))
    peak, cost = rng.integers(0, 6, size).astype(np.float64), rng.integers(-4, 5, size).astype(np.float64)
    capacity = float(rng.integers(0, 6))
    problem: Any = SimpleNamespace(peak=peak, cost=cost, capacity=capacity, hierarchy=SimpleNamespace(shrinks=True))
    above = sorted({float(p) for p in peak if p > acceptable}, reverse=True)
    fits = [j for j, least in enumerate(above) if cost[peak >= least].sum() <= capacity]
    after = [*above, -np.inf]  # nothing above what is acceptable: whatever there is fits
    assert _reachable(problem, acceptable) == after[fits[-1] + 1 if fits else 0]


def test_without_such_the_first_that_does_not_fit_ends_it() -> None:
    problem: Any = SimpleNamespace(
        peak=np.array([3.0, 2, 1]), cost=np.array([2.0, 5, 1]), capacity=4.0, hierarchy=SimpleNamespace(shrinks=False)
    )
    assert _reachable(problem, 0.0) == 2


@pytest.mark.parametrize("budget", [0.0, 1e-40, 1 / 7, 1 / 3 + 1 / 7])
def test_tau_is_that_of_what_was_taken_where_costs_have_no_common_unit(budget: float) -> None:
    hierarchy = hra.Hierarchy.flat([1 / 3, 1 / 7, 1e-30])
    assert not hierarchy.units.exact
    found = hra.solve(hierarchy, budget, gains=[1.0, 2.0, 4.0], traversal=hra.Threshold())
    assert found.tau is not None and found.max_error <= found.tau
