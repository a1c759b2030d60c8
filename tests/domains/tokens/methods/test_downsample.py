"""Down-sampling as a preset: the grid, the tokens that are left over, and what it shows."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains.tokens.context.context import UniformRelevance
from hra.domains.tokens.methods.downsample import Downsample
from hra.domains.tokens.pyramid.downsample import uniform_downsample
from hra.errors import BudgetTooSmall, HraError
from hra.files.images import psnr
from hra.pooling.pool import pool


def test_a_full_grid_shows_what_the_baseline_shows(smooth_noise):
    image = 0.2 + 0.6 * smooth_noise(256, 256)  # no overshoot that tokens could not hold
    allocator = Downsample()
    token_set = allocator.realize(allocator.allocate((image, ""), 64))
    assert len(token_set.base) == 64
    np.testing.assert_allclose(token_set.reconstruct(), uniform_downsample(image, 64), rtol=0, atol=2e-3)
    assert token_set.detail == pytest.approx(1)


def test_what_is_left_goes_to_the_largest_errors(smooth_noise):
    image = smooth_noise(320, 320)
    allocator = Downsample(UniformRelevance())
    allocation = allocator.allocate((image, ""), 85)
    token_set = allocator.realize(allocation)
    assert len(token_set.base) == 81 and len(token_set.saccades) == 4
    alone = allocator.realize(allocator.allocate((image, ""), 81)).reconstruct()
    error = np.square(image - alone).reshape(20, 16, 20, 16, 3).sum(axis=(1, 3, 4))
    worst = np.sort(error.ravel())[-4:]
    assert np.sort([error[y, x] for x, y in token_set.saccades]) == pytest.approx(worst)
    shown = token_set.reconstruct()
    for x, y in token_set.saccades:
        place = np.s_[16 * y : 16 * y + 16, 16 * x : 16 * x + 16]
        assert np.array_equal(shown[place], image[place])
    assert np.mean((shown - image) ** 2) == pytest.approx(allocation.residual, rel=1e-4)
    assert allocation.status == "optimal"


def test_an_image_within_the_budget_is_shown_as_it_is(smooth_noise):
    image = smooth_noise(40, 70)
    allocator = Downsample()
    token_set = allocator.realize(allocator.allocate((image, ""), 1000))
    assert len(token_set) == 15 and not len(token_set.saccades)
    assert psnr(image, token_set.reconstruct()) > 60


def test_no_token_and_no_budget_are_refused():
    allocator, image = Downsample(), np.zeros((64, 64, 3))
    with pytest.raises(BudgetTooSmall):
        allocator.allocate((image, ""), 0)
    with pytest.raises(HraError, match="without a budget"):
        pool(allocator, allocator).allocate(((image, ""), (image, "")), 20)
    with pytest.raises(HraError, match="without a budget"):
        allocator.curve((image, ""))
