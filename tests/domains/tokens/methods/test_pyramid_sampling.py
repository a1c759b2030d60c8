"""Pyramid sampling with minimum shares of its levels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.allocating.allocation import Allocation
from hra.domains import tokens
from hra.errors import HraError, InfeasibleShares


def per_level(allocation: Allocation) -> list[int]:
    levels = allocation.hierarchy.attribute("level")
    return np.bincount(levels[allocation.cut], minlength=int(levels.max()) + 1).tolist()


@pytest.mark.parametrize("share", [0.1, 0.2])
@pytest.mark.parametrize("budget", [64, 137, 273, 300])
def test_the_coarsest_level_keeps_its_share_and_the_count_is_exact(smooth_noise, share, budget):
    image = smooth_noise(512, 512)
    allocator = tokens.PyramidSampling(levels=4, minimum_shares={3: share})
    if share * budget > 16:
        with pytest.raises(InfeasibleShares, match="at most 16 are possible"):
            allocator.allocate((image, ""), budget)
        return
    allocation = allocator.allocate((image, ""), budget)
    assert len(allocator.realize(allocation)) == budget
    assert per_level(allocation)[3] >= share * budget
    assert allocation.upper_bound <= tokens.PyramidSampling(levels=4).allocate((image, ""), budget).upper_bound


@given(seed=st.integers(0, 99), budget=st.integers(20, 120), fine=st.sampled_from([0.0, 0.2, 0.5]))
def test_several_levels_at_once(smooth_noise, seed, budget, fine):
    image = smooth_noise(190, 256, seed)
    allocator = tokens.PyramidSampling(minimum_shares={0: fine, 2: 0.05})
    allocation = allocator.allocate((image, "on the left"), budget)
    assert allocation.cost == budget
    assert per_level(allocation)[0] >= fine * budget and per_level(allocation)[2] >= 0.05 * budget


def test_without_minimum_shares_nothing_changes(smooth_noise):
    image = smooth_noise(200, 150)
    first, second = (tokens.PyramidSampling(minimum_shares=m).allocate((image, ""), 40) for m in (None, {}))
    assert np.array_equal(first.selected, second.selected)


def test_shares_are_checked_when_the_allocator_is_made():
    with pytest.raises(HraError, match="a share from 0 to 1"):
        tokens.PyramidSampling(minimum_shares={3: 10})
