"""The down-sampling baseline: its grid against a search, its image against what must hold."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from hra.domains.tokens.pyramid.blocks import block_sums
from hra.domains.tokens.pyramid.downsample import downsampling_squares, patch_grid, resize, restore, uniform_downsample
from hra.errors import BudgetTooSmall
from hra.files.images import psnr


@given(st.integers(1, 3000), st.integers(1, 3000), st.integers(1, 600))
def test_the_grid_is_the_best_of_all(height, width, budget):
    rows, columns = patch_grid(height, width, budget)
    assert 1 <= rows * columns <= budget

    def scale(r: int, c: int) -> float:
        return min(16 * r / height, 16 * c / width, 1.0)

    best = max(scale(r, budget // r) for r in range(1, budget + 1))
    assert scale(rows, columns) == pytest.approx(best)


def test_known_grids():
    assert patch_grid(1024, 1024, 273) in {(16, 17), (17, 16)}
    assert patch_grid(1024, 1024, 256) == (16, 16)
    assert patch_grid(1152, 2048, 273) in {(12, 22), (13, 21)}
    assert patch_grid(40, 20, 273) == (3, 2)


def test_an_image_within_the_budget_is_unchanged(smooth_noise):
    image = smooth_noise(40, 50)
    np.testing.assert_allclose(uniform_downsample(image, 12), image, rtol=0, atol=1e-6)


def test_a_constant_image_is_unchanged():
    image = np.full((100, 130, 3), 0.3, np.float32)
    np.testing.assert_allclose(uniform_downsample(image, 5), image, rtol=0, atol=1e-5)


def test_back_projection_helps(smooth_noise):
    image = smooth_noise(128, 128)
    plain = _by_pillow(_by_pillow(image, (64, 64)), (128, 128))
    assert psnr(uniform_downsample(image, 16), image) > psnr(np.clip(plain, 0, 1), image)


def test_more_tokens_show_more(smooth_noise):
    image = smooth_noise(160, 240)
    quality = [psnr(uniform_downsample(image, budget), image) for budget in (1, 4, 16, 64)]
    assert quality == sorted(quality)


def test_no_token_is_refused():
    with pytest.raises(BudgetTooSmall):
        uniform_downsample(np.zeros((8, 8, 3)), 0)


_SIDES = st.integers(1, 90)


@given(_SIDES, _SIDES, _SIDES, _SIDES, st.integers(0, 9))
def test_resizing_is_what_pillow_does(height, width, rows, columns, seed):
    image = np.random.default_rng(seed).random((height, width, 3), dtype=np.float32)
    np.testing.assert_allclose(resize(image, (rows, columns)), _by_pillow(image, (rows, columns)), rtol=0, atol=2e-6)


@given(_SIDES, _SIDES, st.integers(1, 6), st.integers(0, 9))
def test_restoring_corrects_what_the_enlarged_image_loses(height, width, factor, seed):
    small = np.random.default_rng(seed).random((-(-height // factor), -(-width // factor), 3), dtype=np.float32)
    enlarged = _by_pillow(small, (height, width))
    for _ in range(3):
        enlarged = enlarged + _by_pillow(small - _by_pillow(enlarged, small.shape[:2]), (height, width))
    np.testing.assert_allclose(restore(small, (height, width)), np.clip(enlarged, 0, 1), rtol=0, atol=1e-5)


@pytest.mark.parametrize("size", [(700, 90), (33, 1100)])
def test_what_down_sampling_loses_is_measured_without_the_enlarged_image(smooth_noise, size):
    image = smooth_noise(*size)
    for budget in (1, 7, 60):
        grid = patch_grid(size[0], size[1], budget)
        squares = block_sums(((uniform_downsample(image, budget) - image) ** 2).sum(axis=2, dtype=np.float64), 16)
        np.testing.assert_allclose(downsampling_squares(image, grid, 16), squares, rtol=1e-5, atol=1e-9)


def test_measuring_what_down_sampling_loses_takes_less_memory_than_the_image(smooth_noise):
    image = np.tile(smooth_noise(512, 512), (6, 1, 1))
    downsampling_squares(image, (6, 1), 16)  # compiled
    tracemalloc.start()
    downsampling_squares(image, (6, 1), 16)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < image.nbytes / 2


def _by_pillow(image, size):
    channels = [Image.fromarray(channel.copy()) for channel in np.moveaxis(image, 2, 0)]
    made = [channel.resize(size[::-1], Image.Resampling.LANCZOS) for channel in channels]
    return np.stack([np.asarray(channel) for channel in made], axis=2)
