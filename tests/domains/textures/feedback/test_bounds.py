"""Feedback from outlines against rays through every pixel."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hra.camera import Camera
from hra.domains.textures import AnalyticFeedback, BoundsFeedback, PlaneScene, TexturedPlane, TiledTexture


def per_page(values: np.ndarray, pages: np.ndarray, scene: PlaneScene) -> np.ndarray:
    return np.bincount(pages, values, scene.textures.hierarchy.node_cost.size)


@given(seed=st.integers(0, 10**6))
def test_areas_and_footprints_are_those_of_the_pixels(
    seed: int, scene: PlaneScene, camera_of: Callable[..., Camera]
) -> None:
    ground = PlaneScene(scene.planes[:1])
    camera = camera_of(seed, (160, 110))
    found, exact = BoundsFeedback(ground).observe(camera), AnalyticFeedback(ground, stride=1).observe(camera)
    areas, pixels = per_page(found.pixels, found.page, ground), per_page(exact.pixels, exact.page, ground)
    # Fewer than two pixels go wrong for each pixel of an outline, which is no longer than that of the viewport.
    assert (np.abs(areas - pixels) <= 2 + 8 * np.sqrt(np.maximum(areas, pixels)) + 0.02 * pixels).all()
    assert abs(areas.sum() - pixels.sum()) <= 900
    assert found.page.size == np.unique(found.page).size and found.viewport_pixels == exact.viewport_pixels
    levels = per_page(exact.wanted_level * exact.pixels, exact.page, ground)[found.page]
    large = pixels[found.page] > 50
    mean = levels[large] / pixels[found.page][large]
    assert np.abs(found.wanted_level[large] - mean).max(initial=0) < 0.5


def test_one_cell_by_hand() -> None:
    texture = TiledTexture.from_image(np.zeros((8, 16, 1), np.uint8), tile=8)
    scene = PlaneScene([TexturedPlane.ground(texture, width=4.0)])
    camera = Camera.orthographic((0, 5, 0), (0, 0, 0), (0, 0, -1), height=2.0, far=10, viewport=(20, 20))
    feedback = BoundsFeedback(scene).observe(camera)
    # The view is 2 wide and shows a unit of each of the two tiles, at 10 pixels and 4 texels per unit.
    assert feedback.page.tolist() == scene.textures.finest_pages[0].ravel().tolist()
    np.testing.assert_allclose(feedback.pixels, 200, rtol=1e-5)
    assert feedback.position is not None
    np.testing.assert_allclose(feedback.position, [[5, 10], [15, 10]], rtol=1e-5)
    assert feedback.footprint.tolist() == [1, 1]


def test_edge_on_and_out_of_view_want_nothing(scene: PlaneScene) -> None:
    ground = PlaneScene(scene.planes[:1])
    for camera in (
        Camera.perspective((0, 0, 9), (0, 0, 0), viewport=(20, 20)),
        Camera.perspective((0, 5, 0), (0, 9, 0), up=(1, 0, 0), viewport=(20, 20)),
    ):
        feedback = BoundsFeedback(ground).observe(camera)
        assert feedback.page.size == feedback.footprint.size == feedback.pixels.size == 0
