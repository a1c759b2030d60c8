from __future__ import annotations

import numpy as np
import pytest

from hra.domains.tokens.methods.sampled.rings import Fixation, RingBuilder
from hra.errors import ArrayError


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


@pytest.mark.parametrize(
    "options", [{"foveal_share": 1.1}, {"foveal_radius": 0}, {"field_of_view": 180}, {"foveal_share": float("nan")}]
)
def test_bad_options_are_refused(options):
    with pytest.raises(ArrayError):
        RingBuilder(**options)
