"""The renderer in OpenGL, beside the plain one on the processor."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import hra
from hra.domains.points import PointAllocator, PointCloud, Renderer, SplatCloud, build, render
from hra.errors import ArrayError, BackendUnavailable, CameraError, HraError
from hra.kernels import raster
from tests.helpers.long_splats import decibels, long_splat

pytestmark = pytest.mark.gl
SIZE = (160, 120)


@pytest.fixture(scope="module")
def context(_session_context: object) -> Iterator[raster.Context]:
    with raster.Context() as made:
        yield made


def _camera(cloud: PointCloud | SplatCloud, azimuth: float, distance: float, reversed_depth: bool = False):
    bounds = np.stack([cloud.positions.min(axis=0), cloud.positions.max(axis=0)])
    longest = float(np.ptp(bounds, axis=0).max())
    return hra.Camera.orbit(
        bounds, azimuth=azimuth, distance=distance * longest, viewport=SIZE, reversed_depth=reversed_depth
    )


@pytest.mark.parametrize("reversed_depth", [False, True])
@pytest.mark.parametrize("distance", [1.5, 0.4])
def test_pictures_of_points_are_those_of_the_plain_renderer(
    cloud: PointCloud, context: raster.Context, distance: float, reversed_depth: bool
):
    tree = build(cloud)
    with Renderer(tree, SIZE, reversed_depth=reversed_depth, context=context) as renderer:
        for azimuth, budget in ((0, 40), (130, 600)):
            camera = _camera(cloud, azimuth, distance, reversed_depth)
            cut = PointAllocator(tree).allocate(camera, budget).cut
            expected = render(tree.take(cut), camera)[0]
            found = renderer.draw(camera, cut)
            # Edges of discs may fall to the other side by rounding.
            assert (np.abs(found - expected).max(axis=2) > 1e-6).mean() < 1e-3
            assert (expected < 1).any()


@pytest.mark.parametrize("reversed_depth", [False, True])
def test_a_near_plane_at_the_eye_changes_no_picture_of_points(
    cloud: PointCloud, context: raster.Context, reversed_depth: bool
):
    """Depth of 24 bits, or one that grows with the distance, would be the same for all of the cloud."""
    tree = build(cloud)
    middle, far = tree.bounds.mean(axis=0), 2 * float(np.ptp(tree.bounds, axis=0).max())
    pictures = []
    with Renderer(tree, SIZE, reversed_depth=reversed_depth, context=context) as renderer:
        for near in (far / 4, 1e-9 * far):
            lens = {"near": near, "viewport": SIZE, "reversed_depth": reversed_depth}
            pictures.append(
                renderer.draw(hra.Camera.perspective(np.add(middle, (0, 0, far)), middle, **lens), tree.leaves)
            )
    assert pictures[0].std() > 0.01
    np.testing.assert_array_equal(pictures[1], pictures[0])


@pytest.mark.parametrize("angle", [30, 45, 60])
@pytest.mark.parametrize("length", [10, 30, 100])
def test_a_splat_thousands_of_pixels_long_is_a_line(context: raster.Context, angle: float, length: float):
    camera = hra.Camera.orbit([[-1, -1, -1], [1, 1, 1]], azimuth=20, elevation=15, viewport=(320, 240))
    cloud, expected = long_splat(camera, angle, length)
    with Renderer(build(cloud), camera.viewport, context=context) as renderer:
        picture = renderer.draw(camera, [0])
    assert decibels(picture, expected) > 40
    np.testing.assert_allclose(picture, render(cloud, camera)[0], atol=0.01)


@pytest.mark.parametrize("reversed_depth", [False, True])
@pytest.mark.parametrize("distance", [1.5, 0.4])
def test_pictures_of_splats_are_those_of_the_plain_renderer(
    splats: SplatCloud, context: raster.Context, distance: float, reversed_depth: bool
):
    tree = build(splats)
    with Renderer(tree, SIZE, reversed_depth=reversed_depth, context=context) as renderer:
        for azimuth, background in ((0, 0.0), (130, 1.0)):
            camera = _camera(splats, azimuth, distance, reversed_depth)
            expected = render(tree.take(tree.leaves), camera, background)[0]
            found = renderer.draw(camera, tree.leaves, background)
            # The plain one stops where less than 1e-4 of the light is left.
            assert np.abs(found - expected).max() < 1e-3
            assert expected.std() > 0.01


def test_places_far_from_the_origin_are_drawn_as_near_ones(cloud: PointCloud, context: raster.Context):
    pictures = []
    for away in (0.0, 1e5):
        tree = build(PointCloud(cloud.positions + np.float32(away), cloud.colors))
        camera = _camera(tree.take(tree.leaves), 20, 1.5)
        with Renderer(tree, SIZE, context=context) as renderer:
            found = renderer.draw(camera, tree.leaves)
        assert np.abs(found - render(tree.take(tree.leaves), camera)[0]).max(axis=2).mean() < 1e-3
        pictures.append(found)
    assert np.abs(pictures[0] - pictures[1]).mean() < 0.02  # positions themselves are rounded to 1/128


def test_nothing_chosen_is_the_background(cloud: PointCloud, context: raster.Context):
    with Renderer(build(cloud), SIZE, context=context) as renderer:
        camera = _camera(cloud, 0, 1.5)
        renderer.draw(camera, [0])
        assert (renderer.draw(camera, np.empty(0, np.int64), 0.25) == 0.25).all()


def test_other_cameras_and_nodes_are_refused(cloud: PointCloud, context: raster.Context):
    renderer = Renderer(build(cloud), SIZE, context=context)
    with pytest.raises(CameraError, match="other cameras"):
        renderer.draw(_camera(cloud, 0, 1.5, reversed_depth=True), [0])
    with pytest.raises(ArrayError, match="no node"):
        renderer.draw(_camera(cloud, 0, 1.5), [10**6])
    renderer.close()
    renderer.close()
    with pytest.raises(HraError, match="closed"):
        renderer.draw(_camera(cloud, 0, 1.5), [0])


def test_an_own_context_ends_with_the_renderer(cloud: PointCloud, _session_context: object):
    with Renderer(build(cloud), SIZE) as renderer:
        assert renderer.driver
        held = renderer._context
    assert held.released
    with pytest.raises(BackendUnavailable), held.use():
        pass


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"radii": [1.0], "covariances": np.ones((1, 6)), "opacities": [1.0]},
        {"radii": [1.0, 2.0]},
        {"covariances": np.ones((1, 6))},
        {"covariances": np.ones((1, 5)), "opacities": [1.0]},
        {"covariances": np.ones((2, 6)), "opacities": [1.0]},
    ],
)
def test_shapes_that_do_not_fit_are_refused(wrong: dict, context: raster.Context):
    with pytest.raises(ArrayError):
        raster.FootprintRenderer(context, SIZE, [[0.0, 0, 0]], [[1.0, 1, 1]], **wrong)
