"""Where a mouse takes the eye, against cameras that are made for the place and against projected points."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import hra
from hra.errors import CameraError
from hra.viewer import OrbitCamera

BOUNDS = np.array([[-1.0, 0, 2], [2, 3, 7]])
SIZE = (160, 120)


def around(azimuth: float, elevation: float, up=(0, 0, 1)) -> hra.Camera:
    return hra.Camera.orbit(BOUNDS, azimuth, elevation, 12, up=up, viewport=SIZE)


@pytest.mark.parametrize("up", [(0, 0, 1), (0, 1, 0), (0.3, -0.5, 2)])
@pytest.mark.parametrize(("azimuth", "elevation"), [(0, 0), (30, 20), (170, -80), (300, 89)])
def test_it_begins_where_the_camera_is(azimuth: float, elevation: float, up) -> None:
    camera = around(azimuth, elevation, up)
    orbit = OrbitCamera.of(camera, BOUNDS, up)
    np.testing.assert_allclose(orbit.camera(SIZE).view, camera.view, atol=1e-9)
    np.testing.assert_allclose(orbit.target, BOUNDS.mean(axis=0), atol=1e-9)
    assert orbit.camera(SIZE).focal_pixels == pytest.approx(camera.focal_pixels)
    assert orbit.distance == pytest.approx(12)


def test_a_camera_that_is_rolled_stays_so_without_a_direction_up() -> None:
    camera = hra.Camera.perspective((5, 6, 20), (0, 1, 3), (1, 2, 0.5), viewport=SIZE)
    np.testing.assert_allclose(OrbitCamera.of(camera, BOUNDS).camera(SIZE).view, camera.view, atol=1e-9)


@pytest.mark.parametrize(("elevation", "lean"), [(120, "180"), (-95, "180"), (30, None), (90, None)])
def test_a_camera_that_hangs_upside_down_is_set_up_with_a_warning(elevation: float, lean: str | None) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        orbit = OrbitCamera.of(around(20, elevation), BOUNDS, (0, 0, 1))
    assert [str(one.message).split()[4] for one in said] == [lean] * (lean is not None)
    assert orbit.camera(SIZE).view[1, 2] >= 0  # its upward side


def test_straight_down_is_nearly_kept() -> None:
    camera = around(40, 90)
    orbit = OrbitCamera.of(camera, BOUNDS, (0, 0, 1)).turned(0, 1)  # what is steepest
    np.testing.assert_allclose(orbit.camera(SIZE).view[:3, :3], camera.view[:3, :3], atol=0.01)


def test_a_drag_turns_by_half_a_turn_for_each_height() -> None:
    turned = OrbitCamera.of(around(30, 20), BOUNDS, (0, 0, 1)).turned(0.25, 0.125)
    np.testing.assert_allclose(turned.camera(SIZE).view, around(30 - 45, 20 + 22.5).view, atol=1e-9)
    assert turned.turned(0, 5).elevation == pytest.approx(math.radians(89.9))
    assert turned.turned(0, -5).elevation == pytest.approx(-math.radians(89.9))


def test_what_is_moved_follows_the_mouse() -> None:
    orbit = OrbitCamera.of(around(30, 20), BOUNDS, (0, 0, 1))
    camera = orbit.moved(0.3, -0.2).camera(SIZE)
    (pixel,) = camera.project(orbit.target[None]).pixels
    np.testing.assert_allclose(pixel, [80 + 0.3 * 120, 60 - 0.2 * 120], atol=1e-9)


def test_zooming_goes_nearer_to_the_target() -> None:
    orbit = OrbitCamera.of(around(30, 20), BOUNDS, (0, 0, 1))
    camera = orbit.zoomed(4).camera(SIZE)
    assert np.linalg.norm(camera.position - orbit.target) == pytest.approx(3) and camera.near == pytest.approx(0.003)
    assert camera.reversed_depth
    with pytest.raises(CameraError):
        orbit.zoomed(0)


def test_an_eye_that_looks_away_turns_around_what_is_ahead_of_it() -> None:
    camera = hra.Camera.perspective((0, 0, 20), (0, 0, 30), viewport=SIZE)
    orbit = OrbitCamera.of(camera, BOUNDS)
    np.testing.assert_allclose(orbit.camera(SIZE).view, camera.view, atol=1e-9)
    assert orbit.target[2] > 20


def test_cameras_that_no_window_has_are_refused() -> None:
    good = around(30, 20)
    parallel = hra.Camera.orthographic((0, 0, 9), (0, 0, 0), height=3, far=20, viewport=SIZE)
    mirrored = hra.Camera.from_matrices(np.diag([-1.0, 1, 1, 1]) @ good.view, good.projection, SIZE)
    for camera in (parallel, mirrored):
        with pytest.raises(CameraError, match="pinhole") as caught:
            OrbitCamera.of(camera, BOUNDS)
        assert caught.value.where == "camera"
