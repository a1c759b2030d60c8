"""Frames and band tokens: exact when all are there, additive, in the right place and direction."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.methods.frequency.band_tokens import BandTokens, band_boxes, band_positions, band_values
from hra.domains.tokens.methods.frequency.frames import Frame, LaplacianFrame, SteerableFrame
from hra.domains.tokens.methods.frequency.residual_frame import HaarFrame
from hra.errors import ArrayError

FRAMES = [LaplacianFrame(), SteerableFrame(), SteerableFrame(2), HaarFrame(5), HaarFrame(1)]


def all_tokens(image: np.ndarray, frame: Frame, patch: int = 16) -> BandTokens:
    positions = band_positions(frame.bands(image.shape[:2], patch), patch)
    values = band_values(frame.analyse(image, patch), positions, patch)
    return BandTokens(values, positions, np.ones(len(values)), image.shape[:2], patch, frame)


@given(st.integers(1, 90), st.integers(1, 90), st.sampled_from(FRAMES))
def test_all_tokens_together_are_the_image(height, width, frame):
    image = np.random.default_rng(height).random((height, width, 3), dtype=np.float32)
    tokens = all_tokens(image, frame)
    np.testing.assert_allclose(tokens.reconstruct(), image, atol=1e-5)
    assert [band.shape[:2] for band in frame.analyse(image, 16)] == [
        (band.height, band.width) for band in frame.bands((height, width), 16)
    ]


@pytest.mark.parametrize("frame", FRAMES)
def test_what_tokens_show_adds_up(smooth_noise, frame):
    image = smooth_noise(70, 100)
    coefficients = frame.analyse(image, 16)
    parts = [
        frame.synthesise([c if i == k else np.zeros_like(c) for i, c in enumerate(coefficients)], (70, 100), 16)
        for k in range(len(coefficients))
    ]
    np.testing.assert_allclose(np.sum(parts, axis=0), image, atol=1e-5)


def test_values_lie_where_positions_say():
    band = np.arange(20 * 40 * 3, dtype=np.float32).reshape(20, 40, 3)
    frame = HaarFrame(1)
    positions = band_positions(frame.bands((20, 40), 16), 16)
    values = band_values([band], positions, 16).reshape(-1, 16, 16, 3)
    assert positions.tolist() == [[0, 0, 0], [0, 1, 0], [0, 2, 0], [0, 0, 1], [0, 1, 1], [0, 2, 1]]
    assert np.array_equal(values[4, :4], band[16:20, 16:32]) and not values[4, 4:].any()
    assert band_boxes(frame.bands((20, 40), 16), positions, 16, (20, 40))[5].tolist() == [32, 16, 40, 20]


def test_the_token_map_shows_the_finest_band(smooth_noise):
    tokens = all_tokens(smooth_noise(64, 64), HaarFrame(3))
    assert (tokens.detail[tokens.token_map()] == 0).all()
    coarse = tokens.places[:, 0] > 0
    some = BandTokens(tokens.values[coarse], tokens.places[coarse], np.ones(coarse.sum()), (64, 64), 16, HaarFrame(3))
    assert (some.shown_detail() == 1).all()


def test_there_is_at_least_one_scale():
    with pytest.raises(ArrayError):
        HaarFrame(0).bands((512, 512), 16)


@pytest.mark.parametrize(("patch", "scales", "cell"), [(16, 5, 16), (16, 6, 32), (14, 2, 14), (14, 5, 16)])
def test_no_coefficient_crosses_a_cell(patch, scales, cell):
    frame = HaarFrame(scales)
    assert frame.cell((512, 512), patch) == cell
    image = np.random.default_rng(0).random((90, 150, 3), np.float32)
    frame = HaarFrame(scales)
    np.testing.assert_allclose(frame.synthesise(frame.analyse(image, patch), (90, 150), patch), image, atol=1e-6)
