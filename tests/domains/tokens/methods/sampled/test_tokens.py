"""Sampled tokens: values against a plain look-up, who shows which pixel, what lies in the gaps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import tokens
from hra.domains.tokens.methods.log_polar import LogPolar
from hra.domains.tokens.methods.sampled.tokens import SampledTokens, fill_gaps
from hra.domains.tokens.token_sets.position_codes import mean_over_boxes


def context_of(image: np.ndarray) -> tokens.TokenContext:
    return LogPolar(tokens.UniformRelevance()).context(image, "")


def bilinear(pixels: np.ndarray, x: float, y: float) -> np.ndarray:
    """By weights of all pixels: triangles of width one around the clamped position."""
    height, width = pixels.shape[:2]
    across = np.maximum(1 - abs(np.arange(width) - np.clip(x, 0, width - 1)), 0)
    down = np.maximum(1 - abs(np.arange(height) - np.clip(y, 0, height - 1)), 0)
    return np.einsum("y,x,yxc->c", down, across, pixels)


def test_aligned_samples_are_the_patches_of_the_pyramid(smooth_noise):
    context = context_of(smooth_noise(128, 160))
    pyramid = context.pyramid
    inner = pyramid.positions[(pyramid.positions[:, 0] < 3) & (pyramid.boxes(pyramid.positions)[:, 2:] < 128).all(1)]
    side = 16.0 * 2 ** inner[:, 0]
    centres = (inner[:, 1:] + 0.5) * side[:, None]
    sampled = SampledTokens.of(context, centres, side / 16)
    np.testing.assert_allclose(sampled.values, pyramid.values(inner), atol=1e-6)
    np.testing.assert_array_equal(sampled.boxes, pyramid.boxes(inner))


@given(st.floats(0, 40), st.floats(0, 56), st.floats(1, 6), st.integers(0, 5))
def test_values_are_trilinear_samples(x, y, scale, seed):
    context = context_of(np.random.default_rng(seed).random((56, 40, 3), dtype=np.float32))
    levels = context.pyramid.levels
    sampled = SampledTokens.of(context, np.array([[x, y]]), np.array([scale])).values.reshape(16, 16, 3)
    exact = min(np.log2(scale), len(levels) - 1)
    for i, j in ((0, 0), (3, 12), (15, 15)):
        expected = np.zeros(3)
        for level in range(len(levels)):
            weight = max(1 - abs(level - exact), 0)
            place = (np.array([x, y]) + (np.array([j, i]) - 7.5) * scale) / 2**level - 0.5
            expected += weight * bilinear(levels[level], *place)
        np.testing.assert_allclose(sampled[i, j], expected, atol=1e-5)


def test_coarse_samples_do_not_alias():
    checkers = np.indices((256, 256)).sum(axis=0) % 2
    image = np.repeat(checkers[..., None], 3, axis=2).astype(np.float32)
    coarse = SampledTokens.of(context_of(image), np.array([[130.3, 127.1]]), np.array([4.0]))
    np.testing.assert_allclose(coarse.values, 0.5, atol=1e-6)


def test_finest_tokens_lie_on_top_and_gaps_show_none(smooth_noise):
    context = context_of(smooth_noise(100, 120))
    sampled = SampledTokens.of(context, np.array([[30.0, 30.0], [40.0, 40.0]]), np.array([1.0, 3.0]))
    shown = sampled.token_map()
    assert shown[30, 30] == 0 and shown[45, 45] == 1 and shown[90, 100] == -1
    assert (shown == 0).sum() == 256 and (shown >= 0).sum() == 48 * 48
    assert sampled.detail.tolist() == [0, np.float32(np.log2(3))]


def test_a_full_grid_of_samples_is_the_image(smooth_noise):
    image = smooth_noise(64, 96)
    y, x = np.indices((4, 6)).reshape(2, -1) * 16 + 8.0
    sampled = SampledTokens.of(context_of(image), np.stack([x, y], axis=1), np.ones(24))
    np.testing.assert_allclose(sampled.reconstruct(), image, atol=1e-6)


def test_tokens_are_painted_by_bilinear_look_up(smooth_noise):
    sampled = SampledTokens.of(context_of(smooth_noise(100, 120)), np.array([[50.3, 41.9]]), np.array([2.3]))
    shown, samples = sampled.reconstruct(), sampled.values.reshape(16, 16, 3)
    for x, y in ((50, 41), (35, 59), (66, 24)):
        expected = bilinear(samples, (x + 0.5 - 50.3) / 2.3 + 7.5, (y + 0.5 - 41.9) / 2.3 + 7.5)
        np.testing.assert_allclose(shown[y, x], expected, atol=1e-5)


def test_known_pixels_stay_and_gaps_continue_a_ramp():
    ramp = np.tile(np.linspace(0, 1, 64, dtype=np.float32)[None, :, None], (64, 1, 3))
    known = np.zeros((64, 64), bool)
    known[::3, ::3] = True
    filled = fill_gaps(np.where(known[..., None], ramp, 9), known)
    assert np.array_equal(filled[known], ramp[known])
    assert np.abs(filled - ramp).mean() < 0.02
    assert np.array_equal(fill_gaps(ramp, np.zeros((64, 64), bool)), np.full_like(ramp, 0.5))


@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 99))
def test_relevance_is_the_mean_of_the_touched_patches(height, width, seed):
    generator = np.random.default_rng(seed)
    scores = generator.random((-(-height // 16), -(-width // 16)))
    x0, y0 = generator.integers(0, width), generator.integers(0, height)
    box = np.array([[x0, y0, generator.integers(x0, width) + 1, generator.integers(y0, height) + 1]])
    per_pixel = scores.repeat(16, axis=0).repeat(16, axis=1)
    (x0, y0, x1, y1), touched = box[0], np.zeros_like(per_pixel, bool)
    touched[y0:y1, x0:x1] = True
    patches = touched.reshape(len(scores), 16, -1, 16).any(axis=(1, 3))
    assert mean_over_boxes(scores, box, 16)[0] == pytest.approx(scores[patches].mean())
