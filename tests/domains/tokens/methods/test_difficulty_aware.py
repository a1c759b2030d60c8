"""Difficulty: easy regions coarse, hard ones fine, whatever the query says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import tokens
from hra.domains.tokens.methods.difficulty_aware import DifficultyAware, EdgeComplexity


def levels_of(allocator: DifficultyAware, image: np.ndarray, budget: int, query: str = "") -> np.ndarray:
    return allocator.realize(allocator.allocate((image, query), budget)).shown_detail()


def test_hard_regions_are_fine_and_easy_ones_coarse():
    image = np.full((512, 512, 3), 0.5, np.float32)
    image[128:256, 256:384] = np.random.default_rng(0).random((128, 128, 1))
    shown = levels_of(DifficultyAware(), image, 16 + 63)
    assert (shown[136:248, 264:376] == 0).all()
    assert (shown[300:] == 3).all() and (shown[:, :200] == 3).all()


def test_regions_of_even_complexity_are_all_or_nothing():
    scores = np.kron([[4.0, 1.0], [2.0, 3.0]], np.ones((8, 8)))
    allocator = DifficultyAware(lambda context: scores)
    shown = levels_of(allocator, np.zeros((256, 256, 3)), 4 + 2 * 63)
    assert (shown[:128, :128] == 0).all() and (shown[128:, 128:] == 0).all()
    assert (shown[:128, 128:] == 3).all() and (shown[128:, :128] == 3).all()


def test_the_residual_is_the_complexity_of_what_is_missing(smooth_noise):
    image = smooth_noise(256, 192)
    allocator = DifficultyAware()
    allocation = allocator.allocate((image, ""), 60)
    complexity = EdgeComplexity()(tokens.TokenContext.of(image)).astype(float)
    shown = allocator.realize(allocation).shown_detail()[::16, ::16]
    missing = (complexity * (1 - 0.25**shown)).sum()
    assert allocation.residual == pytest.approx(missing)
    assert allocation.gain <= allocation.upper_bound * (1 + 1e-12)


def test_the_query_is_not_read(smooth_noise):
    image = smooth_noise(256, 256)
    one, other = (levels_of(DifficultyAware(), image, 80, query) for query in ("top left", "bottom right"))
    assert np.array_equal(one, other)


@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 9))
def test_complexity_is_the_mean_gradient(height, width, seed):
    image = np.random.default_rng(seed).random((height, width, 3), dtype=np.float32)
    complexity = EdgeComplexity()(tokens.TokenContext.of(image, patch=8))
    assert complexity.shape == (-(-height // 8), -(-width // 8)) and (complexity >= 0).all()
    assert EdgeComplexity()(tokens.TokenContext.of(np.full_like(image, 0.3), patch=8)) == pytest.approx(0, abs=1e-6)
