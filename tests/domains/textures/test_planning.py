from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.camera import Camera
from hra.domains.textures import (
    AnalyticFeedback,
    PlaneScene,
    TextureAllocator,
    plan,
    texel_residual,
)
from hra.domains.textures.pages import page_parents
from hra.errors import BudgetTooSmall


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


def test_the_residual_is_the_error_of_what_each_pixel_shows(
    scene: PlaneScene, camera_of: Callable[..., Camera]
) -> None:
    feedback, hierarchy = AnalyticFeedback(scene).observe(camera_of(5, (240, 170))), scene.textures.hierarchy
    allocator, parent = TextureAllocator(scene.textures, AnalyticFeedback(scene)), page_parents(hierarchy)
    resident = allocator.realize(allocator.allocate(feedback, hierarchy.base_cost + 2_000))
    expected = 0.0
    for page, footprint, pixels in zip(feedback.page, feedback.footprint, feedback.pixels, strict=True):
        while not resident.active[page]:
            page = parent[page]
        displacement = max(0.0, 2.0 ** hierarchy.attribute("level")[page] / footprint - 1) / 2
        expected += pixels * displacement**2 / feedback.viewport_pixels
    assert expected > 0
    assert texel_residual(resident, feedback) == pytest.approx(expected)


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
