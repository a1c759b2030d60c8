"""

The uniform mip bias against a search over biases.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.camera import Camera
from hra.domains.textures import (
    AnalyticFeedback,
    Feedback,
    PlaneScene,
    plan,
    texel_residual,
    uniform_bias,
)
from hra.domains.textures.pages import page_parents
from hra.errors import BudgetTooSmall, InvalidBudget


@given(st.integers(0, 30), st.floats(0, 1))
def test_the_residual_of_the_chosen_pages_is_that_of_the_allocation(
    scene: PlaneScene, camera_of: Callable[..., Camera], seed: int, share: float
) -> None:
    hierarchy, camera = scene.textures.hierarchy, camera_of(seed, (120, 85))
    pool = hierarchy.base_cost + share * (hierarchy.total_cost - hierarchy.base_cost)
    result, feedback = plan(scene, camera, pool), AnalyticFeedback(scene).observe(camera)
    residual = texel_residual(result.resident, feedback)
    assert residual == pytest.approx(result.allocation.residual, abs=1e-9 * (1 + result.allocation.base_error))
    assert result.resident.bytes <= pool and result.bias.bytes <= pool
    slack = 1e-9 * (1 + result.allocation.base_error)
    assert result.residual_bound <= min(residual, result.bias_residual) + slack


def test_the_records_of_the_textures_add_up(scene: PlaneScene, camera_of: Callable[..., Camera]) -> None:
    result = plan(scene, camera_of(3), 20_000)
    records = result.by_texture()
    assert [record["size"] for record in records] == [[75, 117, 3], [64, 32, 3]]
    assert sum(record["resident_bytes"] for record in records) == result.resident.bytes
    assert sum(record["bytes"] for record in records) == scene.textures.hierarchy.total_cost
    for record in records:
        assert sum(record["resident_pages_of_level"]) == record["resident_pages"] <= record["pages"]
        assert record["resident_pages_of_level"][-1] == 1, "the mip tail"


def test_the_mip_tails_must_fit(scene: PlaneScene, camera_of: Callable[..., Camera]) -> None:
    with pytest.raises(BudgetTooSmall):
        plan(scene, camera_of(0), scene.textures.hierarchy.base_cost - 1)
    least = plan(scene, camera_of(0), scene.textures.hierarchy.base_cost)
    assert np.count_nonzero(least.resident.active) == 2


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


@pytest.mark.parametrize("budget", [np.nan, "64MB", None, -1])
def test_a_bias_is_for_a_number_of_bytes(budget: Any, scene: PlaneScene, camera_of: Callable[..., Camera]) -> None:
    """NaN and texts are above all numbers for NumPy: they held everything."""
    with pytest.raises(InvalidBudget):
        uniform_bias(scene.textures, AnalyticFeedback(scene).observe(camera_of(2)), budget)
