"""

Predicted cameras against paths that go on as they began, and what prefetching for them is worth.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.camera import Camera
from hra.domains.textures import AnalyticFeedback, PlaneScene, TextureAllocator, constant_motion, flyover, replay


@pytest.fixture(scope="module")
def ground(scene: PlaneScene) -> PlaneScene:
    return PlaneScene(scene.planes[:1])


def test_the_same_seed_flies_the_same_way(ground: PlaneScene) -> None:
    plane = ground.planes[0]
    eyes = [np.array([camera.position for camera in flyover(plane, 12, seed=seed)]) for seed in (7, 7, 8)]
    np.testing.assert_array_equal(eyes[0], eyes[1])
    assert not np.allclose(eyes[0], eyes[2])


@pytest.mark.parametrize("seed", range(5))
def test_the_flight_descends_and_always_sees_the_plane(ground: PlaneScene, seed: int) -> None:
    cameras = flyover(ground.planes[0], 30, seed=seed, viewport=(64, 36))
    heights = [camera.position[1] for camera in cameras]
    assert heights[0] == pytest.approx(5.0)
    assert heights[-1] == pytest.approx(0.2)
    assert (np.diff(heights) < 0).all()
    views = [AnalyticFeedback(ground).observe(camera) for camera in cameras]
    assert min(view.pixels.sum() / view.viewport_pixels for view in views) > 0.2
    assert views[0].wanted_level.mean() > views[-1].wanted_level.mean()


def test_the_texture_is_not_mirrored(ground: PlaneScene) -> None:
    plane = ground.planes[0]
    for camera in flyover(plane, 5):
        corner, along_u, along_v = camera.project(plane.points([0.5, 0.51, 0.5], [0.5, 0.5, 0.51])).pixels
        (ux, uy), (vx, vy) = along_u - corner, along_v - corner
        assert ux * vy - uy * vx > 0  # clockwise with y downwards, as columns and rows are


@pytest.mark.parametrize("frames", [0, 1])
def test_short_flights(ground: PlaneScene, frames: int) -> None:
    assert len(flyover(ground.planes[0], frames)) == frames


def straight(frame: int) -> Camera:
    return Camera.perspective((-4 + 0.2 * frame, 1, 3), (-4 + 0.2 * frame, 0, 0), viewport=(96, 54))


def circle(frame: int) -> Camera:
    angle = 0.05 * frame
    eye, ahead = (np.array([3 * np.cos(a), 1.0, 3 * np.sin(a)]) for a in (angle, angle + 0.4))
    return Camera.perspective(eye, ahead - [0, 1, 0], viewport=(96, 54))


@pytest.mark.parametrize("path", [straight, circle])
def test_steady_paths_go_on(path: Callable[[int], Camera]) -> None:
    expected = constant_motion(path(3), path(4), 20)
    assert len(expected) == 20
    for frame, camera in enumerate(expected, start=5):
        np.testing.assert_allclose(camera.view, path(frame).view, atol=1e-9)
        np.testing.assert_array_equal(camera.projection, path(4).projection)
        assert camera.viewport == (96, 54)


@given(seeds=st.lists(st.integers(0, 10**6), min_size=1, max_size=5))
def test_limits_hold_whatever_is_predicted(
    scene: PlaneScene, camera_of: Callable[..., Camera], seeds: list[int]
) -> None:
    allocator, hierarchy = TextureAllocator(scene.textures, AnalyticFeedback(scene)), scene.textures.hierarchy
    pool, upload = int(hierarchy.base_cost) + 20_000, 1000
    # Cameras may differ in their lenses and kinds, and a step may lead anywhere.
    cameras = [camera_of(seed) for seed in seeds]
    trace = replay(allocator, cameras, pool, upload_bytes=upload, look_ahead=2, predict=constant_motion)
    assert len(trace) == len(cameras)
    assert (trace.resident_bytes <= pool).all() and (trace.uploaded_bytes[1:] <= upload).all()


def test_after_the_first_steps_a_prediction_is_as_good_as_knowledge(scene: PlaneScene) -> None:
    allocator = TextureAllocator(scene.textures, AnalyticFeedback(scene))
    path, moving = [straight(0)] * 50 + [straight(frame) for frame in range(30)], 50
    without = replay(allocator, path, np.inf, upload_bytes=512)
    known = replay(allocator, path, np.inf, upload_bytes=512, look_ahead=6)
    guessed = replay(allocator, path, np.inf, upload_bytes=512, look_ahead=6, predict=constant_motion)
    assert known.queued[moving:].sum() == 0, "it loads before the camera moves"
    assert guessed.queued[moving:].sum() < without.queued[moving:].sum()
    assert guessed.queued[moving + 13 :].sum() == 0 < without.queued[moving + 13 :].sum()
