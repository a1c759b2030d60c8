"""The down-sampling baseline: its grid against a search, its image against what must hold."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.patches.downsample import patch_grid, uniform_downsample
from hra.errors import BudgetTooSmall, MissingExtra
from hra.images import psnr


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
    assert uniform_downsample(image, 12) == pytest.approx(image, abs=1e-6)


def test_a_constant_image_is_unchanged():
    image = np.full((100, 130, 3), 0.3, np.float32)
    assert uniform_downsample(image, 5) == pytest.approx(image, abs=1e-5)


def test_back_projection_helps(smooth_noise):
    from PIL import Image

    image = smooth_noise(128, 128)
    lanczos = Image.Resampling.LANCZOS
    channels = [Image.fromarray(channel) for channel in np.moveaxis(image, 2, 0).copy()]
    twice = [channel.resize((64, 64), lanczos).resize((128, 128), lanczos) for channel in channels]
    plain = np.stack([np.asarray(channel) for channel in twice], axis=2)
    assert psnr(uniform_downsample(image, 16), image) > psnr(np.clip(plain, 0, 1), image)


def test_more_tokens_show_more(smooth_noise):
    image = smooth_noise(160, 240)
    quality = [psnr(uniform_downsample(image, budget), image) for budget in (1, 4, 16, 64)]
    assert quality == sorted(quality)


def test_no_token_is_refused():
    with pytest.raises(BudgetTooSmall):
        uniform_downsample(np.zeros((8, 8, 3)), 0)


def test_missing_pillow_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtra, match="tokens"):
        uniform_downsample(np.zeros((8, 8, 3)), 1)
