from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.camera import Camera
from hra.domains.textures import (
    AnalyticFeedback,
    Feedback,
    MippedTexture,
    PlaneScene,
    TexelError,
    TextureAllocator,
    TexturedPlane,
    TextureSet,
    TiledTexture,
)
from hra.errors import MetricError
from hra.model.hierarchy import Hierarchy
from hra.traversals.threshold import Threshold
from tests.helpers.pages import covers


def displacement(level: float, wanted: float) -> float:
    """Half of what a texel of ``level`` is wider than a pixel, in pixels."""
    return max(0.0, 2 ** (level - wanted) - 1) / 2


def reference(hierarchy: Hierarchy, feedback: Feedback, level_of: Callable[[int], int]) -> np.ndarray:
    """Error of every page, summed pixel by pixel."""
    error = np.zeros(hierarchy.node_cost.size)
    samples = list(zip(feedback.page.tolist(), feedback.wanted_level.tolist(), feedback.pixels.tolist(), strict=True))
    for page in range(error.size):
        for finest, wanted, pixels in samples:
            if covers(hierarchy, page, finest):
                error[page] += pixels * displacement(level_of(page), wanted) ** 2
    return error / feedback.viewport_pixels


@pytest.mark.parametrize("seed", range(4))
def test_errors_are_the_sums_over_the_pixels(seed: int, scene: PlaneScene, camera_of: Callable[..., Camera]) -> None:
    hierarchy = scene.textures.hierarchy
    feedback = AnalyticFeedback(scene, stride=2).observe(camera_of(seed))
    level, tails = hierarchy.node["level"], hierarchy.added_by < 0
    error = reference(hierarchy, feedback, lambda page: level[page])
    np.testing.assert_allclose(TexelError().evaluate(hierarchy, feedback), error, rtol=1e-5, atol=1e-12)
    inherited = reference(hierarchy, feedback, lambda page: level[page] + 1)
    found = TexelError().inherited(hierarchy, feedback)
    np.testing.assert_allclose(found[~tails], inherited[~tails], rtol=1e-5, atol=1e-12)


def worst_displacement(hierarchy: Hierarchy, feedback: Feedback, level: Callable[[int], int]) -> list[float]:
    """Per page the largest displacement of the pixels in its region when it is shown at ``level(page)``."""
    return [
        max(
            (
                displacement(level(page), feedback.wanted_level[i])
                for i in range(feedback.page.size)
                if covers(hierarchy, page, int(feedback.page[i]))
            ),
            default=0.0,
        )
        for page in range(hierarchy.node_cost.size)
    ]


@pytest.mark.parametrize("seed", range(4))
def test_the_peak_is_the_worst_pixel(seed: int, scene: PlaneScene, camera_of: Callable[..., Camera]) -> None:
    hierarchy = scene.textures.hierarchy
    level, tails = hierarchy.node["level"], hierarchy.added_by < 0
    feedback = AnalyticFeedback(scene, stride=2).observe(camera_of(seed))
    worst = worst_displacement(hierarchy, feedback, lambda page: level[page])
    np.testing.assert_allclose(TexelError().peak(hierarchy, feedback), worst, rtol=1e-4, atol=1e-12)
    coarser = np.array(worst_displacement(hierarchy, feedback, lambda page: level[page] + 1))
    found = TexelError().inherited_peak(hierarchy, feedback)
    np.testing.assert_allclose(found[~tails], coarser[~tails], rtol=1e-4, atol=1e-12)


def test_a_threshold_leaves_what_nobody_sees(scene: PlaneScene, camera_of: Callable[..., Camera]) -> None:
    allocator = TextureAllocator(scene.textures, AnalyticFeedback(scene, stride=1), traversal=Threshold(0.25))
    camera = camera_of(0)
    allocation = allocator.allocate(camera, np.inf)
    assert allocation.max_error <= 0.25
    seen = set(AnalyticFeedback(scene, stride=1).observe(camera).page.tolist())
    pages = allocation.cut[allocation.hierarchy.added_by[allocation.cut] >= 0]
    unseen = [page for page in pages if not any(covers(allocation.hierarchy, page, finest) for finest in seen)]
    assert len(pages) and not unseen


@given(seed=st.integers(0, 10**6))
def test_finer_pages_never_err_more(seed: int, scene: PlaneScene, camera_of: Callable[..., Camera]) -> None:
    hierarchy = scene.textures.hierarchy
    feedback = AnalyticFeedback(scene).observe(camera_of(seed))
    error, inherited = TexelError().evaluate(hierarchy, feedback), TexelError().inherited(hierarchy, feedback)
    assert (error <= inherited).all()
    # The regions of the children are that of the parent.
    parent = hierarchy.node_parent
    assert parent is not None
    child = parent >= 0
    halved = np.bincount(parent[child], inherited[child], parent.size)
    refined = np.bincount(parent[child], minlength=parent.size) > 0
    np.testing.assert_allclose(halved[refined], error[refined], rtol=1e-9, atol=1e-15)


def test_one_pixel_by_hand() -> None:
    hierarchy = TiledTexture.from_image(np.zeros((32, 32, 1), np.uint8), tile=8).hierarchy
    finest = int(np.flatnonzero(hierarchy.attribute("level") == 0)[0])
    feedback = Feedback(np.array([finest], np.int32), np.ones(1, np.float32), np.full(1, 2, np.float32), 8.0)
    error = TexelError().evaluate(hierarchy, feedback)
    # Two of eight pixels: levels 0, 1, 2 displace by 0, 1/2 and 3/2 pixels.
    assert sorted(error[error > 0].tolist()) == [0.0625, 0.5625]
    assert error[finest] == 0
    assert TexelError().inherited(hierarchy, feedback)[finest] == 0.0625


def test_a_level_errs_like_its_tiles_together(noise: Callable[..., np.ndarray]) -> None:
    image, camera = noise(64, 96), Camera.perspective((1, 1, 2), (0, 0, 0), viewport=(64, 48))
    totals = []
    for texture in (TiledTexture.from_image(image, tile=16), MippedTexture.from_image(image, tail=16)):
        scene = PlaneScene([TexturedPlane.ground(texture, 4.0)])
        hierarchy = scene.textures.hierarchy
        error = TexelError().evaluate(hierarchy, AnalyticFeedback(scene, 1).observe(camera))
        totals.append(np.bincount(hierarchy.attribute("level"), error))
    np.testing.assert_allclose(totals[0], totals[1])


def test_no_pixels_no_error(scene: PlaneScene) -> None:
    nothing = Feedback(np.empty(0, np.int32), np.empty(0, np.float32), np.empty(0, np.float32), 100.0)
    for values in (TexelError().evaluate, TexelError().inherited, TexelError().peak):
        assert not values(scene.textures.hierarchy, nothing).any()


def test_the_unit_is_that_of_the_meshes() -> None:
    metric = TexelError()
    assert (metric.unit, metric.kind, metric.additive) == ("px2", "error", True)


def test_a_camera_is_no_feedback(scene: PlaneScene) -> None:
    with pytest.raises(MetricError):
        TexelError().evaluate(scene.textures.hierarchy, Camera.perspective((0, 1, 0), (1, 0, 0)))


@pytest.mark.parametrize("page", [-1, 10**6])
def test_feedback_of_other_textures_is_refused(scene: PlaneScene, page: int) -> None:
    feedback = Feedback(np.array([page], np.int32), np.ones(1, np.float32), np.ones(1, np.float32), 1.0)
    for values in (TexelError().evaluate, TexelError().inherited, TexelError().peak):
        with pytest.raises(MetricError):
            values(scene.textures.hierarchy, feedback)


def test_pages_need_their_levels() -> None:
    feedback = Feedback(np.zeros(1, np.int32), np.ones(1, np.float32), np.ones(1, np.float32), 1.0)
    with pytest.raises(MetricError):
        TexelError().evaluate(Hierarchy.flat([1.0]), feedback)


def test_a_set_and_its_parts_agree(scene: PlaneScene, camera_of: Callable[..., Camera]) -> None:
    ground = PlaneScene(scene.planes[:1])
    camera = camera_of(3)
    alone = TexelError().evaluate(ground.textures.hierarchy, AnalyticFeedback(ground).observe(camera))
    both = PlaneScene([*ground.planes, TexturedPlane.ground(ground.planes[0].texture, 1e-9)])
    shared = TextureSet(both.textures.textures).hierarchy
    np.testing.assert_allclose(TexelError().evaluate(shared, AnalyticFeedback(both).observe(camera)), alone)
