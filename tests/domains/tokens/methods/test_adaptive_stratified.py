"""Adaptive strata: the default rule, other choosers, and what they may return."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import tokens
from hra.domains.tokens.methods.adaptive_stratified import AdaptiveStratified, EntropyGrid
from hra.domains.tokens.methods.stratified import Stratified
from hra.errors import MetricError


def grid_of(scores: np.ndarray, patch: int = 4) -> tuple[int, int]:
    allocator = tokens.GridTopK(lambda context: scores, patch=patch)
    return EntropyGrid()(allocator.context(np.zeros((scores.shape[0] * patch, scores.shape[1] * patch, 3)), ""))


def test_scattered_relevance_gets_more_strata_than_one_target():
    target, some = np.zeros((32, 32)), np.zeros((32, 32))
    target[3, 5] = 1
    some[:16, :8] = 1
    assert grid_of(target) == (2, 2)
    assert grid_of(np.ones((32, 32))) == (8, 8)
    assert 2 < grid_of(some)[0] < 8


def test_strata_follow_the_aspect():
    assert grid_of(np.ones((16, 64))) == (1, 4)
    assert grid_of(np.ones((64, 16))) == (4, 1)
    rows, columns = grid_of(np.ones((24, 48)))
    assert rows < columns == 8


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 99))
def test_the_grid_keeps_its_range(rows, columns, seed):
    grid = grid_of(np.random.default_rng(seed).random((rows, columns)) ** 4)
    assert grid in {(1, 4), (4, 1)} or (2 <= grid[0] <= 8 and 2 <= grid[1] <= 8)


def test_a_constant_chooser_is_stratified_sampling(smooth_noise):
    image = smooth_noise(256, 200)
    adaptive = AdaptiveStratified(chooser=lambda context: (3, 5)).allocate((image, ""), 60)
    plain = Stratified(rows=3, columns=5).allocate((image, ""), 60)
    assert np.array_equal(adaptive.selected, plain.selected)


def test_the_default_sees_every_one_of_its_strata(smooth_noise):
    allocation = AdaptiveStratified().allocate((smooth_noise(256, 256), ""), 100)
    strata = allocation.hierarchy.attribute("stratum")
    assert np.array_equal(np.unique(strata[allocation.cut]), np.unique(strata))


@pytest.mark.parametrize("grid", [(0, 4), (2.5, 2), (1, 2, 3), (-1, 1)])
def test_bad_grids_are_refused(grid: Any):
    with pytest.raises(MetricError, match="chooser"):
        AdaptiveStratified(chooser=lambda context: grid).allocate((np.zeros((64, 64, 3)), ""), 4)
