from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hra.camera import Camera
from hra.domains.textures import (
    AnalyticFeedback,
    MippedTexture,
    PlaneScene,
    TextureAllocator,
    texel_residual,
)
from hra.domains.textures.pages import page_parents
from hra.errors import ArrayError


@pytest.mark.parametrize("page", [-1, 3, 0.5, True])
def test_what_is_no_page_is_refused(page: float) -> None:
    texture = MippedTexture.from_image(np.zeros((64, 64, 3), np.uint8), tail=16)
    assert len(texture.pages.bytes) == 3 and texture.read(2).shape == (64, 64, 3)
    with pytest.raises(ArrayError, match="page"):
        texture.read(page)  # pyright: ignore[reportArgumentType]


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
