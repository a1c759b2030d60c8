"""The plain renderer, against what can be said without it."""

from __future__ import annotations

import numpy as np
import pytest

import hra
from hra.domains.points import PointCloud, SplatCloud, render
from hra.errors import HraError
from tests.helpers.long_splats import decibels, long_splat

BOX = [[-1, -1, -1], [1, 1, 1]]


@pytest.mark.parametrize("reversed_depth", [False, True])
def test_the_nearer_disc_is_seen(reversed_depth: bool):
    camera = hra.Camera.orbit(BOX, viewport=(33, 33), reversed_depth=reversed_depth)
    cloud = PointCloud([[0, 0, -0.5], [0, 0, 0.5]], [[1, 0, 0], [0, 1, 0]], [0.3, 0.3])
    for order in ([0, 1], [1, 0]):
        part = PointCloud(cloud.positions[order], cloud.colors[order], cloud.radii[order])
        picture, depth = render(part, camera)
        assert picture[16, 16].tolist() == [0, 1, 0]
        assert (depth[16, 16] > depth[0, 0]) == reversed_depth


def test_a_disc_covers_its_area():
    camera = hra.Camera.orbit(BOX, viewport=(200, 200))
    picture, _ = render(PointCloud([[0, 0, 0]], [[0, 0, 0]], [0.5]), camera)
    radius = 0.5 * camera.focal_pixels / np.linalg.norm(camera.position)
    assert (picture[..., 0] == 0).sum() == pytest.approx(np.pi * radius**2, rel=0.02)


def test_splats_blend_front_to_back_whatever_their_order():
    camera = hra.Camera.orbit(BOX, viewport=(33, 33))
    place, wide = [[0, 0, 0.5], [0, 0, -0.5]], np.full((2, 6), [0.04, 0, 0, 0.04, 0, 0.04])
    for order in ([0, 1], [1, 0]):
        colors, share = np.array([[1, 0, 0], [0, 1, 0]])[order], np.array([0.5, 0.8])[order]
        picture, _ = render(SplatCloud(np.array(place)[order], wide, colors, share), camera, 0.0)
        assert picture[16, 16] == pytest.approx([0.5, 0.4, 0], abs=0.01)


def test_a_splat_is_as_large_as_its_covariance_says():
    camera = hra.Camera.orbit(BOX, viewport=(200, 200))
    cloud = SplatCloud([[0, 0, 0]], [[0.04, 0, 0, 0.01, 0, 0.04]], [[1, 1, 1]], [0.9])
    light = render(cloud, camera, 0.0)[0][..., 0].astype(float)
    x, y = np.meshgrid(np.arange(200) - 99.5, np.arange(200) - 99.5)
    pixels = camera.focal_pixels / np.linalg.norm(camera.position)
    assert np.sqrt((light * x**2).sum() / light.sum()) == pytest.approx(0.2 * pixels, rel=0.05)
    assert np.sqrt((light * y**2).sum() / light.sum()) == pytest.approx(0.1 * pixels, rel=0.05)


def test_points_without_sizes_cannot_be_drawn():
    with pytest.raises(HraError, match="no cloud with sizes"):
        render(PointCloud([[0, 0, 0]]), hra.Camera.orbit(BOX))


def test_shares_of_many_white_splats_are_no_more_than_white():
    rng, count = np.random.default_rng(0), 400
    turns = np.tile([1.0, 0, 0, 0], (count, 1))
    opacities = 0.3 * rng.random(count)
    places, scales, white = rng.normal(size=(count, 3)), np.full((count, 3), 0.4), np.ones((count, 3))
    cloud = SplatCloud.of(places, scales, turns, white, opacities)
    camera = hra.Camera.orbit(BOX, viewport=(64, 64))
    assert render(cloud, camera)[0].max() == 1


@pytest.mark.parametrize("angle", [30, 45, 60])
@pytest.mark.parametrize("length", [10, 30, 100])
def test_a_splat_thousands_of_pixels_long_is_a_line(angle: float, length: float):
    camera = hra.Camera.orbit(BOX, azimuth=20, elevation=15, viewport=(320, 240))
    cloud, expected = long_splat(camera, angle, length)
    assert decibels(render(cloud, camera)[0], expected) > 40
