from __future__ import annotations

from collections.abc import Callable

import pytest

from hra.camera import Camera
from hra.domains.textures import (
    AnalyticFeedback,
    PlaneScene,
    TextureAllocator,
    texel_residual,
)
from hra.domains.textures.pages import page_parents


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
