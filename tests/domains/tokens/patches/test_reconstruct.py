"""Images from tokens alone: exact where the tokens are fine, and known images elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import tokens
from hra.domains.tokens.patches.reconstruct import reconstruct
from hra.files.images import psnr
from tests.helpers.noise import noise
from tests.helpers.refining import refine_to

SIZES = [(1, 1), (16, 16), (50, 70), (33, 129), (1, 200)]


def shown_by(pyramid: tokens.PatchPyramid, keep: np.ndarray) -> np.ndarray:
    positions = pyramid.positions[keep]
    height, width = pyramid.image.shape[:2]
    return reconstruct(pyramid.values(positions), positions, (height, width), pyramid.patch)


@pytest.mark.parametrize("size", SIZES)
def test_all_finest_tokens_give_the_image_back(size):
    pyramid = tokens.PatchPyramid.build(noise(*size))
    assert np.array_equal(shown_by(pyramid, pyramid.positions[:, 0] == 0), pyramid.image)


@pytest.mark.parametrize("size", SIZES)
def test_all_tokens_of_a_level_give_that_level_interpolated(size):
    pyramid = tokens.PatchPyramid.build(noise(*size), patch=8)
    shapes = [level.shape[:2] for level in pyramid.levels]
    for level in range(1, len(shapes)):
        expected = np.clip(refine_to(pyramid.levels[level], shapes[level - 1 :: -1]), 0, 1)
        assert np.array_equal(shown_by(pyramid, pyramid.positions[:, 0] == level), expected)


@given(st.integers(1, 100), st.integers(1, 100), st.integers(1, 80), st.integers(0, 5))
def test_finest_tokens_of_any_cut_are_exact(height, width, budget, seed):
    image = noise(height, width, seed)
    allocator = tokens.PyramidSampling(patch=8)
    token_set = allocator.realize(allocator.allocate((image, "top left"), budget))
    shown = token_set.reconstruct()
    assert shown.dtype == np.float32 and shown.min() >= 0 and shown.max() <= 1
    for x0, y0, x1, y1 in token_set.boxes[token_set.places[:, 0] == 0]:
        assert np.array_equal(shown[y0:y1, x0:x1], image[y0:y1, x0:x1])


@given(st.integers(1, 100), st.integers(1, 100), st.integers(1, 80), st.floats(0, 1, width=32))
def test_a_constant_image_is_exact(height, width, budget, value):
    image = np.full((height, width, 3), value, np.float32)
    for preset in (tokens.PyramidSampling(patch=8), tokens.GridTopK(patch=8)):
        shown = preset.realize(preset.allocate((image, ""), budget)).reconstruct()
        np.testing.assert_allclose(shown, image, rtol=0, atol=1e-6)


def test_what_no_token_covers_is_the_mean_of_the_tokens():
    image = noise(48, 80)
    allocator = tokens.GridTopK(lambda context: np.eye(3, 5))
    token_set = allocator.realize(allocator.allocate((image, ""), 3))
    shown = token_set.reconstruct()
    seen = np.zeros((48, 80), bool)
    for row in range(3):
        seen[16 * row : 16 * row + 16, 16 * row : 16 * row + 16] = True
    assert np.array_equal(shown[seen], image[seen])
    assert shown[~seen] == pytest.approx(image[seen].mean(), abs=1e-6)


def test_a_patch_left_by_its_children_is_their_mean():
    # All but one finest patch, and the level above for that one: its neighbours' parents are known from their children.
    pyramid = tokens.PatchPyramid.build(noise(64, 64))
    level, x, y = pyramid.positions.T
    missing = (level == 0) & (x == 2) & (y == 1)
    keep = ((level == 0) & ~missing) | ((level == 1) & (x == 1) & (y == 0))
    expected = np.clip(refine_to(pyramid.levels[1], [(64, 64)]), 0, 1)
    shown = shown_by(pyramid, keep)
    assert shown[16:32, 32:48] == pytest.approx(expected[16:32, 32:48], abs=1e-6)
    assert np.array_equal(shown[32:], pyramid.image[32:])


def test_a_better_budget_shows_more(smooth_noise):
    image = smooth_noise(256, 256)
    allocator = tokens.PyramidSampling(tokens.UniformRelevance())
    context = allocator.context(image, "")
    quality = [
        psnr(allocator.realize(allocator.allocate(context, budget)).reconstruct(), image)
        for budget in (1, 10, 50, 100, 200)
    ]
    assert quality == sorted(quality) and quality[-1] > quality[0] + 3
