"""The uniform mip bias against a search over biases."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.camera import Camera
from hra.domains.textures import AnalyticFeedback, Feedback, PlaneScene, uniform_bias
from hra.domains.textures.pages import page_parents
from hra.errors import BudgetTooSmall


def wanted(scene: PlaneScene, feedback: Feedback, bias: float) -> np.ndarray:
    """The pages that the samples want with a bias, one sample after the other."""
    parent, level = page_parents(scene.textures.hierarchy), scene.textures.hierarchy.attribute("level")
    active = parent < 0
    for page, wants in zip(feedback.page.tolist(), feedback.wanted_level.tolist(), strict=True):
        while page >= 0:
            active[page] |= np.floor(wants + bias) <= level[page]
            page = parent[page]
    return active


@given(seed=st.integers(0, 10**6), share=st.floats(0, 1))
def test_it_is_the_smallest_bias_that_fits(
    seed: int, share: float, scene: PlaneScene, camera_of: Callable[..., Camera]
) -> None:
    hierarchy, feedback = scene.textures.hierarchy, AnalyticFeedback(scene).observe(camera_of(seed))
    budget = hierarchy.base_cost + share * (hierarchy.total_cost - hierarchy.base_cost)
    found = uniform_bias(scene.textures, feedback, budget)
    assert found.bytes <= budget
    costs = [(hierarchy.node_cost[wanted(scene, feedback, bias)].sum(), bias) for bias in np.arange(0, 8, 0.25)]
    best = next(bias for cost, bias in costs if cost <= budget)
    # Biases between those of the search may hold more, and none holds less.
    assert (found.active >= wanted(scene, feedback, best)).all()
    before = wanted(scene, feedback, max(best - 0.25, 0))
    assert (found.active <= before).all()


def test_all_that_is_wanted_if_it_fits_and_the_tails_at_least(
    scene: PlaneScene, camera_of: Callable[..., Camera]
) -> None:
    feedback = AnalyticFeedback(scene).observe(camera_of(2))
    everything = uniform_bias(scene.textures, feedback, np.inf)
    np.testing.assert_array_equal(everything.active, wanted(scene, feedback, 0.0))
    tails = scene.textures.hierarchy.base_cost
    assert uniform_bias(scene.textures, feedback, tails).bytes == tails
    with pytest.raises(BudgetTooSmall, match="mip tails"):
        uniform_bias(scene.textures, feedback, tails - 1)
