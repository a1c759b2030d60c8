"""Log-polar tokens: shares, densities, angles, and what the border of the image does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.methods.log_polar import LogPolar
from hra.domains.tokens.methods.sampled.arcs import VisibleArcs, farthest_corner
from hra.domains.tokens.methods.sampled.rings import Fixation, RingBuilder
from hra.errors import ArrayError


def peak_at(row: int, column: int, rows: int = 64, columns: int = 64) -> LogPolar:
    scores = np.full((rows, columns), 0.1)
    scores[row, column] = 1
    return LogPolar(lambda context: scores)


@given(st.floats(0, 50), st.floats(0, 80), st.floats(0.1, 120))
def test_visible_arcs_agree_with_counting(x, y, radius):
    arcs = VisibleArcs.of((x, y), np.array([radius]), (80, 50))
    angles = (np.arange(20_000) + 0.5) * 2 * np.pi / 20_000
    px, py = x + radius * np.cos(angles), y + radius * np.sin(angles)
    share = ((px >= 0) & (px <= 50) & (py >= 0) & (py <= 80)).mean()
    assert arcs.angle[0] == pytest.approx(2 * np.pi * share, abs=4e-3)
    if arcs.angle[0] > 1e-6:
        at = arcs.at(np.zeros(50, int), np.arange(50) / 50 + 0.01)
        assert (np.diff(at) > 0).all()
        assert (x + radius * np.cos(at) >= -1e-6).all() and (x + radius * np.cos(at) <= 50 + 1e-6).all()
        assert (y + radius * np.sin(at) >= -1e-6).all() and (y + radius * np.sin(at) <= 80 + 1e-6).all()


@pytest.mark.parametrize("budget", [150, 273])
@pytest.mark.parametrize("place", [(32, 32), (0, 0), (60, 10)])
def test_the_fovea_has_its_share(smooth_noise, budget, place):
    allocator = peak_at(*place)
    token_set = allocator.realize(allocator.allocate((smooth_noise(1024, 1024), ""), budget))
    # The fixation is the centre of a cell of the coarse pass, 4 x 4 patches here.
    gaze = (np.array(place[::-1]) // 4 * 4 + 2) * 16
    distance = np.hypot(*(token_set.centres - gaze).T)
    assert (distance <= 50).sum() == round(0.3 * budget)
    assert (token_set.centres >= 0).all() and (token_set.centres <= 1024).all()
    assert distance.max() > 0.8 * farthest_corner(tuple(gaze), (1024, 1024))


def test_the_density_falls_as_one_over_e_plus_e0():
    fixation = Fixation((2000.0, 2000.0), 40.0, (4000, 4000))
    places, _ = fixation.samples(50, 1900, 3000)
    distance = np.hypot(*(places - 2000).T)
    for low, high in ((100, 300), (300, 800), (800, 1800)):
        found = ((distance >= low) & (distance < high)).mean()
        radius = np.linspace(low, high, 10_000)
        whole = np.linspace(50, 1900, 100_000)
        expected = (radius / (radius + 40)).mean() * (high - low) / ((whole / (whole + 40)).mean() * 1850)
        assert found == pytest.approx(expected, rel=0.1)


def test_samples_of_a_whole_ring_lie_at_even_angles_from_zero_on():
    fixation = Fixation((500.0, 500.0), 40.0, (1000, 1000))
    places, _ = fixation.samples(50, 400, 60)
    distance, angle = np.hypot(*(places - 500).T).round(6), np.arctan2(*(places - 500).T[::-1]) % (2 * np.pi)
    rings = np.unique(distance)
    assert len(rings) > 2
    for ring in rings:
        count = (distance == ring).sum()
        np.testing.assert_allclose(angle[distance == ring], 2 * np.pi * np.arange(count) / count, atol=1e-9)


def test_cells_are_about_square():
    fixation = Fixation((500.0, 500.0), 40.0, (1000, 1000))
    for count in (20, 150, 1000):
        edges = fixation.ring_edges(50, 500, count)
        counts = count * fixation.expected(edges) / fixation.expected(edges).sum()
        around = np.pi * (edges[:-1] + edges[1:]) / counts
        assert 0.6 < np.median(np.diff(edges) / around) < 1.6


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


@pytest.mark.parametrize(
    "options", [{"foveal_share": 1.1}, {"foveal_radius": 0}, {"field_of_view": 180}, {"foveal_share": float("nan")}]
)
def test_bad_options_are_refused(options):
    with pytest.raises(ArrayError):
        RingBuilder(**options)


def test_fixed_patches_are_all_at_full_resolution(smooth_noise):
    image = smooth_noise(512, 640)
    fixed, grown = LogPolar(growing=False), LogPolar()
    samples, others = (each.realize(each.allocate((image, ""), 150)) for each in (fixed, grown))
    assert len(samples) == 150 and (samples.scales == 1).all() and (samples.levels == 0).all()
    assert np.array_equal(samples.points, others.points) and others.scales.max() > 2
    sides = samples.boxes[:, 2:] - samples.boxes[:, :2]
    assert sides.max() == 16
