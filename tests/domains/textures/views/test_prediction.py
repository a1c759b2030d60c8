"""Predicted cameras against paths that go on as they began, and what prefetching for them is worth."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.camera import Camera
from hra.domains.textures import AnalyticFeedback, PlaneScene, TextureAllocator, constant_motion, replay


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
