"""Pages behind a depth buffer want nothing, and no visible page is lost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.camera import Camera
from hra.camera.occlusion import Occlusion, window_matrix
from hra.domains.textures import AnalyticFeedback, BoundsFeedback, PlaneScene
from hra.domains.textures.feedback.bounds import cell_corners
from tests.helpers.rasterizer import Target


def drawn(scene: PlaneScene, camera: Camera) -> Occlusion:
    """The depth of the scene's planes."""
    target = Target(camera.viewport[1], camera.viewport[0], camera.reversed_depth)
    for plane in scene.planes:
        a, b, c, d = plane.points(np.array([0, 1, 1, 0]), np.array([0, 0, 1, 1]))
        target.draw(np.array([[a, b, c], [a, c, d]]), np.zeros(2, np.int32), window_matrix(camera))
    return Occlusion.of(target.depth, camera)


@given(seed=st.integers(0, 10**6))
def test_no_page_that_owns_a_pixel_is_lost(seed: int, scene: PlaneScene, camera_of: Callable[..., Camera]) -> None:
    camera = camera_of(seed, (96, 70))
    occlusion = drawn(scene, camera)
    free, hidden = (AnalyticFeedback(scene, 1, o).observe(camera) for o in (None, occlusion))
    np.testing.assert_array_equal(hidden.page, free.page)
    np.testing.assert_array_equal(hidden.position, free.position)
    outlines = BoundsFeedback(scene, occlusion).observe(camera)
    # Slivers that own the centre of a pixel may be clipped away by rounding: pages of one pixel are let off.
    page, pixels = np.unique(free.page, return_counts=True)
    assert set(page[pixels > 1]) <= set(outlines.page)
    assert set(outlines.page) <= set(BoundsFeedback(scene).observe(camera).page)


def test_a_wall_hides_the_pages_behind_it(scene: PlaneScene) -> None:
    camera = Camera.perspective((0, 1, 3), (-0.3, 1, -1), viewport=(96, 70))
    outlines = BoundsFeedback(scene).observe(camera).page.size
    assert BoundsFeedback(scene, drawn(scene, camera)).observe(camera).page.size < outlines


@pytest.mark.parametrize("reversed_depth", [False, True])
@pytest.mark.parametrize("source", [AnalyticFeedback, BoundsFeedback])
def test_behind_what_is_drawn_near_the_eye_nothing_is_wanted(
    scene: PlaneScene, source: type, reversed_depth: bool
) -> None:
    camera = Camera.perspective((0, 4, 9), (0, 0, 0), viewport=(96, 70), reversed_depth=reversed_depth)
    depth = np.full((70, 96), float(reversed_depth), np.float32)
    depth[:, 48:] = 1 - depth[:, 48:]  # nothing in the right half
    feedback = source(scene, occlusion=Occlusion.of(depth, camera)).observe(camera)
    whole = source(scene).observe(camera)
    left = whole.position[:, 0] < 40
    assert feedback.page.size < whole.page.size
    assert not set(feedback.page) & (set(whole.page[left]) - set(whole.page[~left]))
    assert set(whole.page[whole.position[:, 0] > 50]) <= set(feedback.page)


def test_corners_are_those_of_the_cells(scene: PlaneScene) -> None:
    plane = scene.planes[0]
    corners, (rows, columns) = cell_corners(plane), plane.texture.mips[0].shape[:2]
    assert corners.shape == (10, 15, 4, 3)
    np.testing.assert_allclose(corners[0, 0, 0], plane.origin)
    np.testing.assert_allclose(corners[-1, -1, 2], plane.origin + plane.u_axis + plane.v_axis)
    np.testing.assert_allclose(corners[2, 3, 2], plane.points(32 / columns, 24 / rows))
    np.testing.assert_array_equal(corners[:, :-1, 1], corners[:, 1:, 0])
