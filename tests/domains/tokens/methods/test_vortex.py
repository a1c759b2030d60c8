"""Vortex sampling: golden angles, growing scale, several centres."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains.tokens.methods.vortex import SpiralBuilder, Vortex
from hra.errors import ArrayError


def with_peaks(*peaks: tuple[int, int, float], centres: int = 3) -> Vortex:
    scores = np.zeros((64, 64))
    for row, column, height in peaks:
        scores[row : row + 4, column : column + 4] = height
    return Vortex(lambda context: scores, centres=centres)


def test_samples_turn_by_the_golden_angle(smooth_noise):
    allocator = with_peaks((32, 32, 1.0), centres=1)
    token_set = allocator.realize(allocator.allocate((smooth_noise(1024, 1024), ""), 200))
    offset = token_set.centres - 544
    distance = np.hypot(*offset.T)
    assert (np.diff(distance) > 0).all()
    turn = np.diff(np.arctan2(*offset[distance < 470].T[::-1])) % (2 * np.pi)
    np.testing.assert_allclose(turn, 2 * np.pi * (np.sqrt(5) - 1) / 2, atol=1e-6)


def test_the_scale_grows_in_proportion_to_e_plus_e0(smooth_noise):
    allocator = with_peaks((32, 32, 1.0), centres=1)
    token_set = allocator.realize(allocator.allocate((smooth_noise(1024, 1024), ""), 100))
    distance, coarse = np.hypot(*(token_set.centres - 544).T), token_set.scales > 1
    ratio = token_set.scales[coarse] / (distance[coarse] + 0.75 * 1024 / 20)
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)
    assert coarse.any()


def test_density_follows_the_areal_magnification(smooth_noise):
    allocator = with_peaks((32, 32, 1.0), centres=1)
    token_set = allocator.realize(allocator.allocate((smooth_noise(1024, 1024), ""), 2000))
    distance, e0 = np.hypot(*(token_set.centres - 544).T), 0.75 * 1024 / 20
    inner, outer = (lambda e: np.log1p(e / e0) - e / (e + e0))(np.array([200.0, 450.0]))
    assert (distance < 200).sum() / (distance < 450).sum() == pytest.approx(inner / outer, rel=0.02)


def test_centres_share_by_relevance_and_lie_apart(smooth_noise):
    allocator = with_peaks((8, 8, 1.0), (8, 12, 0.9), (48, 48, 0.5))
    allocation = allocator.allocate((smooth_noise(1024, 1024), ""), 150)
    counts = np.bincount(allocation.hierarchy.attribute("stratum")[allocation.cut])
    assert counts.tolist() == [100, 50]  # the second peak is too near to the first
    centres = allocator.realize(allocation).centres
    near = [np.hypot(*(centres - gaze).T).min() for gaze in ((160, 160), (800, 800))]
    assert max(near) < 30


def test_every_sample_lies_inside(smooth_noise):
    allocator = with_peaks((0, 60, 1.0), (60, 0, 0.5))
    token_set = allocator.realize(allocator.allocate((smooth_noise(1010, 1020), ""), 273))
    assert (token_set.centres >= 0).all() and (token_set.centres <= [1020, 1010]).all()


@pytest.mark.parametrize("options", [{"centres": 0}, {"field_of_view": 0}])
def test_bad_options_are_refused(options):
    with pytest.raises(ArrayError):
        SpiralBuilder(**options)
