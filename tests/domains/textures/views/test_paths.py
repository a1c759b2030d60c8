from __future__ import annotations

import numpy as np
import pytest

from hra.domains.textures import AnalyticFeedback, PlaneScene, flyover


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
