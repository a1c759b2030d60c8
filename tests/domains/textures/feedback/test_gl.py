"""Feedback drawn by OpenGL against ray casting."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hra.camera import Camera
from hra.domains.textures import (
    AnalyticFeedback,
    Feedback,
    GLFeedback,
    MippedTexture,
    PlaneScene,
    TexturedPlane,
    TiledTexture,
)
from hra.errors import BackendUnavailable, CameraError
from hra.kernels import raster

pytestmark = pytest.mark.gl


@pytest.fixture(scope="module")
def mixed(scene: PlaneScene, noise: Callable[..., np.ndarray]) -> PlaneScene:
    """Planes with tiles of two sizes, with whole mip levels, and two that share a texture."""
    mipped, coarse = MippedTexture.from_image(noise(33, 21), tail=8), TiledTexture.from_image(noise(90, 40), tile=12)
    walls = [
        TexturedPlane(mipped, *np.array([[-3, 2, -2], [2, 0, 0.5], [0, -2, 0]])),
        TexturedPlane(coarse, *np.array([[1, 2, 0], [2, 0, -1], [0, -2, 0]])),
        TexturedPlane(coarse, *np.array([[-4, 3, 1], [0.5, 0, -2], [0, -2, 0]])),
    ]
    return PlaneScene([*scene.planes, *walls])


@pytest.fixture(scope="module")
def sources(_session_context: object, mixed: PlaneScene) -> Iterator[dict[int, GLFeedback]]:
    with GLFeedback(mixed, 1) as fine, GLFeedback(mixed, 4) as coarse:
        yield {1: fine, 4: coarse}


def assert_agree(found: Feedback, exact: Feedback, scene: PlaneScene) -> None:
    pixels = [np.bincount(f.page, f.pixels, scene.textures.hierarchy.node_cost.size) for f in (found, exact)]
    assert np.abs(pixels[0] - pixels[1]).sum() <= 0.004 * exact.viewport_pixels
    assert found.viewport_pixels == exact.viewport_pixels
    assert found.position is not None and exact.position is not None
    positions = found.position.tolist(), exact.position.tolist()
    order = [{(x, y): k for k, (x, y) in enumerate(samples)} for samples in positions]
    both = np.array([(order[0][p], order[1][p]) for p in order[0].keys() & order[1].keys()]).reshape(-1, 2).T
    same = found.page[both[0]] == exact.page[both[1]]
    ratio = found.footprint[both[0]][same] / exact.footprint[both[1]][same]
    assert np.abs(ratio - 1).max(initial=0) < 1e-3
    np.testing.assert_array_equal(found.pixels[both[0]], exact.pixels[both[1]])


@pytest.mark.parametrize("stride", [1, 4])
@settings(max_examples=25)
@given(seed=st.integers(0, 10**6))
def test_it_is_that_of_the_rays(
    stride: int, seed: int, sources: dict[int, GLFeedback], mixed: PlaneScene, camera_of: Callable[..., Camera]
) -> None:
    camera = camera_of(seed, (124, 88))
    assert_agree(sources[stride].observe(camera), AnalyticFeedback(mixed, stride).observe(camera), mixed)


def test_the_last_cells_may_be_cut_off(gl_context: object, mixed: PlaneScene) -> None:
    camera = Camera.perspective((2, 4, 9), (0, 0, 0), viewport=(185, 129))
    with GLFeedback(mixed, 8) as source:
        found = whole_cells(source.observe(camera), 184, 128)
    exact = whole_cells(AnalyticFeedback(mixed, 8).observe(camera), 184, 128)
    common = sorted(found.keys() & exact.keys())
    assert len(common) > 0.95 * max(len(found), len(exact)) > 60
    pages, footprints = (np.array([(found[p][k], exact[p][k]) for p in common]).T for k in (0, 1))
    same = pages[0] == pages[1]
    assert same.mean() > 0.98
    np.testing.assert_allclose(footprints[0][same], footprints[1][same], rtol=1e-3)


def test_what_is_cut_off_has_its_own_area(gl_context: object, mixed: PlaneScene) -> None:
    camera = Camera.perspective((0, 1, 0), (3, 0, -2), viewport=(9, 10))
    with GLFeedback(PlaneScene([TexturedPlane.ground(mixed.textures.textures[0], 1000.0)]), 4) as source:
        feedback = source.observe(camera)
    assert feedback.position is not None
    at = {(x, y): area for (x, y), area in zip(feedback.position.tolist(), feedback.pixels.tolist(), strict=True)}
    assert at[8.5, 9] == 2 and at[2, 6] == 16 and at[8.5, 6] == 4


def whole_cells(feedback: Feedback, width: int, height: int) -> dict[tuple[float, float], tuple[int, float]]:
    """Page and footprint by position, of the cells within the first ``width`` columns and ``height`` rows."""
    assert feedback.position is not None
    samples = zip(feedback.position.tolist(), feedback.page.tolist(), feedback.footprint.tolist(), strict=True)
    return {(x, y): (page, footprint) for (x, y), page, footprint in samples if x < width and y < height}


def test_sizes_of_views_may_change_and_a_context_may_be_shared(gl_context: object, mixed: PlaneScene) -> None:
    with raster.Context() as context:
        with GLFeedback(mixed, 2, context) as source:
            for viewport, reversed_depth in (((40, 30), False), ((64, 20), False), ((64, 20), True), ((40, 30), False)):
                camera = Camera.perspective((2, 4, 9), (0, 0, 0), viewport=viewport, reversed_depth=reversed_depth)
                assert_agree(source.observe(camera), AnalyticFeedback(mixed, 2).observe(camera), mixed)
        assert not context.released


def test_a_released_source_and_a_stride_of_nothing_are_refused(gl_context: object, mixed: PlaneScene) -> None:
    source = GLFeedback(mixed)
    source.release()
    with pytest.raises(BackendUnavailable):
        source.observe(Camera.perspective((2, 4, 9), (0, 0, 0), viewport=(40, 30)))
    with pytest.raises(CameraError, match="stride"):
        GLFeedback(mixed, stride=0)
