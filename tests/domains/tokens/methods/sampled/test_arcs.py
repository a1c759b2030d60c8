from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.methods.sampled.arcs import VisibleArcs, farthest_corner
from tests.helpers.log_polar_cases import peak_at


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
