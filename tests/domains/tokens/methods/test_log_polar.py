"""Log-polar tokens: shares, densities, angles, and what the border of the image does."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains.tokens.methods.log_polar import LogPolar
from hra.errors import ArrayError
from tests.helpers.log_polar_cases import peak_at


def test_detail_falls_with_eccentricity(smooth_noise):
    allocator = peak_at(32, 32)
    token_set = allocator.realize(allocator.allocate((smooth_noise(1024, 1024), ""), 150))
    distance = np.hypot(*(token_set.centres - 544).T)
    assert (token_set.scales[distance < 50] == 1).all()
    assert token_set.scales[distance > 300].min() > 3
    assert np.corrcoef(distance, token_set.scales)[0, 1] > 0.8


def test_small_images_are_all_fovea(smooth_noise):
    allocator = LogPolar(patch=4)
    assert np.unique(allocator.hierarchy_for((smooth_noise(40, 40), "")).attribute("stratum")).tolist() == [0]


def test_any_fixation_serves_also_one_outside(smooth_noise):
    image = smooth_noise(300, 400)
    for gaze, seen in (((30.0, 200.0), (30.0, 200.0)), ((-50.0, 900.0), (0.5, 299.5))):
        allocator = LogPolar(fixation=lambda pixels, query, relevance, gaze=gaze: gaze)
        centres = allocator.realize(allocator.allocate((image, ""), 150)).centres
        assert (np.hypot(*(centres - seen).T) <= 50).sum() == 45
    with pytest.raises(ArrayError, match="fixation"):
        LogPolar(fixation=lambda *_: (float("nan"), 0.0)).allocate((image, ""), 20)


def test_fixed_patches_are_all_at_full_resolution(smooth_noise):
    image = smooth_noise(512, 640)
    fixed, grown = LogPolar(growing=False), LogPolar()
    samples, others = (each.realize(each.allocate((image, ""), 150)) for each in (fixed, grown))
    assert len(samples) == 150 and (samples.scales == 1).all() and (samples.levels == 0).all()
    assert np.array_equal(samples.points, others.points) and others.scales.max() > 2
    sides = samples.boxes[:, 2:] - samples.boxes[:, :2]
    assert sides.max() == 16
