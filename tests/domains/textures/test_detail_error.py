"""The error in intensities: against plain sums, and against rendered views where it is exact."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.camera import Camera
from hra.domains.textures import (
    AnalyticFeedback,
    DetailError,
    MippedTexture,
    PlaneScene,
    ResidentTextures,
    TexturedPlane,
    TextureSet,
    TiledTexture,
    render,
)
from hra.domains.textures.detail_error import page_detail
from hra.errors import MetricError
from tests.helpers.pages import covers


@pytest.mark.parametrize("seed", range(3))
def test_errors_are_the_sums_of_the_missing_bands(
    seed: int, scene: PlaneScene, camera_of: Callable[..., Camera]
) -> None:
    hierarchy, metric = scene.textures.hierarchy, DetailError.of(scene.textures)
    feedback = AnalyticFeedback(scene, stride=3).observe(camera_of(seed))
    level, pages = hierarchy.attribute("level"), hierarchy.node_cost.size
    expected, inherited = np.zeros(pages), np.zeros(pages)
    for finest, wanted, pixels in zip(feedback.page, feedback.wanted_level, feedback.pixels, strict=True):
        chain = [page for page in range(pages) if covers(hierarchy, page, int(finest))]
        for page in chain:
            below = [q for q in chain if int(wanted) <= level[q] < level[page]]
            expected[page] += pixels * metric.detail[below].sum()
            own = metric.detail[page] if level[page] >= int(wanted) else 0.0
            inherited[page] += pixels * (metric.detail[below].sum() + own)
    np.testing.assert_allclose(metric.evaluate(hierarchy, feedback), expected / feedback.viewport_pixels, rtol=1e-5)
    np.testing.assert_allclose(metric.inherited(hierarchy, feedback), inherited / feedback.viewport_pixels, rtol=1e-5)


@pytest.mark.parametrize("kind", [TiledTexture, MippedTexture])
@pytest.mark.parametrize("size", [(64, 96), (40, 52)])
def test_one_missing_band_is_the_rendered_difference(kind: type, size: tuple[int, int], noise: Callable) -> None:
    height, width = size
    scene = PlaneScene([TexturedPlane.ground(kind.from_image(noise(height, width), 16), width=float(width))])
    # Straight from above, a texel per pixel.
    camera = Camera.orthographic((0, 9, 0), (0, 0, 0), (0, 0, -1), height=height, far=20, viewport=(width, height))
    hierarchy, metric = scene.textures.hierarchy, DetailError.of(scene.textures)
    feedback = AnalyticFeedback(scene, stride=1).observe(camera)
    active = hierarchy.attribute("level") >= 1
    views = (render(scene, ResidentTextures(scene.textures, a), camera) for a in (active, active | True))
    shown, whole = (view.astype(np.float64) for view in views)
    estimate = metric.evaluate(hierarchy, feedback)[hierarchy.attribute("level") == 1].sum()
    assert estimate == pytest.approx(np.mean((shown - whole) ** 2), rel=1e-4)


def test_a_float_texture_counts_like_bytes(noise: Callable[..., np.ndarray]) -> None:
    image = noise(40, 52)
    texture, same = TiledTexture.from_image(image, 8), TiledTexture.from_image(image / np.float32(255), 8)
    expected = page_detail(texture)
    # Coarse levels of bytes are rounded to bytes.
    np.testing.assert_allclose(page_detail(same), expected, atol=2e-4)
    assert expected[0] == 0 and (expected[1:] > 0).all()


def test_a_flat_image_has_no_detail() -> None:
    detail = page_detail(TiledTexture.from_image(np.full((37, 50, 3), 99, np.uint8), 8))
    np.testing.assert_allclose(detail, 0, atol=1e-12)


@given(seed=st.integers(0, 10**6))
def test_the_children_inherit_what_the_parent_errs(
    seed: int, scene: PlaneScene, camera_of: Callable[..., Camera]
) -> None:
    hierarchy, metric = scene.textures.hierarchy, DetailError.of(scene.textures)
    feedback = AnalyticFeedback(scene).observe(camera_of(seed))
    error, inherited = metric.evaluate(hierarchy, feedback), metric.inherited(hierarchy, feedback)
    assert (error <= inherited).all()
    parent = hierarchy.node_parent
    assert parent is not None
    child = parent >= 0
    sums = np.bincount(parent[child], inherited[child], parent.size)
    refined = np.bincount(parent[child], minlength=parent.size) > 0
    np.testing.assert_allclose(sums[refined], error[refined], rtol=1e-9, atol=1e-15)


def test_the_detail_of_other_textures_is_refused(scene: PlaneScene, camera_of: Callable[..., Camera]) -> None:
    other = DetailError.of(TextureSet(scene.textures.textures[:1]))
    with pytest.raises(MetricError, match="detail of"):
        other.evaluate(scene.textures.hierarchy, AnalyticFeedback(scene).observe(camera_of(0)))
