"""Boxes as a camera sees them: the bound on pixels per unit against dense samples, view culling, and placed objects."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.camera import Camera, view_bounds
from hra.camera.frustum import boxes_in_frustum
from hra.errors import ArrayError, CameraError
from tests.helpers.cameras import inside_clip_volume, random_camera, stretch

seeds = st.integers(0, 2**32 - 1)
ORIGIN = (0.0, 0.0, 0.0)


def random_boxes(rng: np.random.Generator, count: int) -> np.ndarray:
    """Boxes [count, 2, 3] of all shapes, thin ones too; some around or beside the eye of a `random_camera`."""
    center, half = rng.normal(size=(count, 3)) * 3, rng.exponential(1, (count, 3)) * rng.choice([0.01, 1], (count, 3))
    return np.stack([center - half, center + half], axis=1)


def points_in(rng: np.random.Generator, boxes: np.ndarray, count: int) -> np.ndarray:
    """Points [N, count, 3] of each box: its corners, and random ones, half of them with coordinates of corners."""
    share = rng.random((len(boxes), count, 3))
    share = np.where(rng.random(share.shape) < 0.5, np.rint(share), share)
    share[:, :8] = np.stack(np.meshgrid(*[[0, 1]] * 3), axis=-1).reshape(8, 3)
    return boxes[:, None, 0] * (1 - share) + boxes[:, None, 1] * share


@given(seeds)
def test_bounds_the_stretch_at_every_visible_point(seed: int) -> None:
    rng = np.random.default_rng(seed)
    camera, boxes = random_camera(rng), random_boxes(rng, 60)
    points = points_in(rng, boxes, 120).reshape(-1, 3)
    bound = np.repeat(camera.visible_pixels_per_unit_in_boxes(boxes), 120)
    seen = inside_clip_volume(camera, points)
    assert (stretch(camera, points[seen]) <= bound[seen] * (1 + 1e-9)).all()


@given(seeds)
def test_nested_boxes_are_monotone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    camera, inner = random_camera(rng), random_boxes(rng, 200)
    outer = inner + rng.exponential(1, inner.shape) * [[[-1], [1]]] * rng.choice([0, 1], inner.shape)
    small, large = (camera.visible_pixels_per_unit_in_boxes(boxes) for boxes in (inner, outer))
    assert (large >= small * (1 - 1e-12)).all()


@given(seeds)
def test_tight_for_small_boxes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    camera = Camera.perspective((0, 0, 5), ORIGIN, vertical_fov_degrees=rng.uniform(20, 120))
    points = rng.normal(size=(60, 3))
    points = points[inside_clip_volume(camera, points)]
    half = rng.random((len(points), 3)) * 1e-4
    bound = camera.visible_pixels_per_unit_in_boxes(np.stack([points - half, points + half], axis=1))
    assert (bound <= 1.01 * stretch(camera, points)).all()


def test_a_plate_across_the_view_is_closer_than_its_sphere() -> None:
    camera = Camera.perspective((0, 0, 5), ORIGIN, vertical_fov_degrees=90, viewport=(200, 100), near=0.5)
    plate = np.array([[[-1, -1, 0], [1, 1, 0]]], float)
    # Depth 5 everywhere, at most sqrt(2) beside the axis; the sphere of radius sqrt(2) reaches a depth of 3.6.
    expected = 50 / 5 * math.sqrt(1 + 2 / 25)
    np.testing.assert_allclose(camera.visible_pixels_per_unit_in_boxes(plate), [expected])
    assert camera.pixels_per_unit([ORIGIN], [math.sqrt(2)])[0] > 1.3 * expected


@given(seeds)
def test_never_drops_a_visible_box(seed: int) -> None:
    rng = np.random.default_rng(seed)
    camera, boxes = random_camera(rng), random_boxes(rng, 100)
    touched = inside_clip_volume(camera, points_in(rng, boxes, 60).reshape(-1, 3)).reshape(100, 60).any(axis=1)
    assert (camera.visible_pixels_per_unit_in_boxes(boxes)[touched] > 0).all()


@pytest.mark.parametrize("kind", ["perspective", "orthographic"])
def test_drops_what_lies_beyond_each_plane(kind: str) -> None:
    options = {"height": 10.0} if kind == "orthographic" else {}
    camera = getattr(Camera, kind)(ORIGIN, (0, 0, -1), near=1, far=100, viewport=(100, 100), **options)
    outside = np.array([[-40, 0, -10], [40, 0, -10], [0, -40, -10], [0, 40, -10], [0, 0, 5], [0, 0, -200]], float)
    assert not camera.visible_pixels_per_unit_in_boxes(np.stack([outside - 1, outside + 1], axis=1)).any()
    assert camera.visible_pixels_per_unit_in_boxes(np.stack([outside - 300, outside + 300], axis=1)).all()


@given(seeds)
def test_what_is_beside_a_box_is_bounded_by_it(seed: int) -> None:
    """Visible points at any distance from boxes in and out of view: none nearer than the gap, none stretched more."""
    rng = np.random.default_rng(seed)
    camera, boxes = random_camera(rng), random_boxes(rng, 60)
    points = points_in(rng, boxes, 120)
    way = rng.normal(size=points.shape)
    length = rng.exponential(1, (60, 120)) * rng.choice([0.01, 0.1, 1, 10], (60, 1))
    near = (points + way * (length / np.linalg.norm(way, axis=2))[..., None]).reshape(-1, 3)
    seen, length = inside_clip_volume(camera, near), length.reshape(-1)
    pixels, apart = (np.repeat(values, 120) for values in camera.boxes_near_view(boxes))
    assert (length[seen] >= apart[seen] * (1 - 1e-9)).all()
    share = length * pixels / camera.focal_pixels if camera.is_perspective else 0 * length
    bounded = seen & (share < 1)
    most = (pixels * (1 + share) / (1 - share) ** 2)[bounded]
    assert (stretch(camera, near[bounded]) <= most * (1 + 1e-9)).all()


@given(seeds)
def test_boxes_in_view_are_those_without_a_gap(seed: int) -> None:
    rng = np.random.default_rng(seed)
    camera, boxes = random_camera(rng), random_boxes(rng, 200)
    pixels, apart = camera.boxes_near_view(boxes)
    visible = boxes_in_frustum(boxes, camera._plane_rows)
    np.testing.assert_array_equal(apart == 0, visible)
    np.testing.assert_array_equal(np.where(visible, pixels, 0), camera.visible_pixels_per_unit_in_boxes(boxes))
    where = rng.random(200) < 0.5
    np.testing.assert_array_equal(camera.boxes_near_view(boxes, where)[0], pixels * where)


class TestHardCameras:
    """Cases that must work: 74-76, 78 and 81 of the list of bad inputs."""

    @pytest.mark.parametrize("reversed_depth", [False, True])
    @pytest.mark.parametrize("far", [math.inf, 100.0])
    def test_inside_a_box_and_across_the_near_plane(self, far: float, reversed_depth: bool) -> None:
        camera = Camera.perspective(
            ORIGIN,
            (0, 0, -1),
            vertical_fov_degrees=90,
            viewport=(100, 100),
            near=0.1,
            far=far,
            reversed_depth=reversed_depth,
        )
        around, across, behind = (
            [[-1] * 3, [1] * 3],
            [[-0.01, -0.01, -0.2], [0.01, 0.01, -0.05]],
            [[-1, -1, 2], [1, 1, 3]],
        )
        values = camera.visible_pixels_per_unit_in_boxes([around, across, behind])
        corner = math.sqrt(3)  # 1 / cos of the viewport's corner
        np.testing.assert_allclose(values[0], 50 / 0.1 * corner)
        assert 50 / 0.1 <= values[1] <= values[0]
        assert values[2] == 0

    def test_mirrored_and_uneven_scale_counts_with_its_largest_axis(self) -> None:
        camera = Camera.perspective((0, 0, 5), ORIGIN, vertical_fov_degrees=90, viewport=(100, 100))
        scaled = camera.seen_from(np.diag([-3, 1, 0.5, 1]))
        np.testing.assert_allclose(scaled.visible_pixels_per_unit_in_boxes(np.zeros((1, 2, 3))), [30])


@pytest.mark.parametrize("boxes", [np.zeros((2, 3)), np.zeros((2, 3, 2)), [[["a"] * 3] * 2], 1.0])
def test_bad_arrays_are_refused(boxes) -> None:
    with pytest.raises(ArrayError):
        Camera.perspective((0, 0, 5), ORIGIN).visible_pixels_per_unit_in_boxes(boxes)


@pytest.mark.parametrize("kind", ["perspective", "orthographic"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
def test_where_and_dtypes(kind: str, dtype: type) -> None:
    rng = np.random.default_rng(0)
    options = {"height": 3.0, "far": 20.0} if kind == "orthographic" else {"far": 20.0}
    camera = getattr(Camera, kind)((0, 0, 5), ORIGIN, viewport=(640, 480), **options)
    boxes, where = (random_boxes(rng, 500) * 2).astype(dtype), rng.random(500) < 0.7
    boxes.flags.writeable = False
    plain = camera.visible_pixels_per_unit_in_boxes(boxes.astype(np.float64))
    assert 0 < np.count_nonzero(plain) < 500
    np.testing.assert_array_equal(camera.visible_pixels_per_unit_in_boxes(boxes), plain)
    np.testing.assert_array_equal(camera.visible_pixels_per_unit_in_boxes(boxes, where), plain * where)


def test_loops_get_arrays_of_one_kind_whether_or_not_they_may_be_written_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kind is compiled for by itself, half a second for every loop."""
    camera, boxes, got = Camera.perspective((0, 0, 3), (0, 0, 0)), random_boxes(np.random.default_rng(0), 5), []
    for name in ("boxes_to_frustum", "boxes_pixels_per_unit", "visible_pixels_per_unit", "spheres_in_frustum"):
        loop = getattr(view_bounds, name)
        noted = lambda array, *rest, loop=loop: (got.append(array.flags.writeable), loop(array, *rest))[1]  # noqa: E731
        monkeypatch.setattr(view_bounds, name, noted)
    centers, radii = boxes.mean(axis=1), np.ones(5)
    for writeable in (False, True):
        boxes.flags.writeable = centers.flags.writeable = radii.flags.writeable = writeable
        camera.visible_pixels_per_unit_in_boxes(boxes)
        camera.visible_pixels_per_unit(centers, radii)
        camera.spheres_visible(centers, radii)
    assert got == [False] * 8 and boxes.flags.writeable


@given(seeds)
def test_an_object_sees_what_the_world_sees(seed: int) -> None:
    rng = np.random.default_rng(seed)
    camera = random_camera(rng)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    placement = np.eye(4)
    placement[:3, :3], placement[:3, 3] = turn * rng.uniform(0.1, 10), rng.normal(size=3)
    points = rng.normal(size=(20, 3))
    placed = points @ placement[:3, :3].T + placement[:3, 3]
    seen, expected = camera.seen_from(placement).project(points), camera.project(placed)
    np.testing.assert_allclose(seen.depth, expected.depth, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(seen.pixels, expected.pixels, rtol=1e-6, atol=1e-6 * max(camera.viewport))


@pytest.mark.parametrize("placement", [np.eye(3), np.full((4, 4), np.nan), np.zeros((4, 4)), np.ones((4, 4))])
def test_bad_placements_are_refused(placement: np.ndarray) -> None:
    with pytest.raises(CameraError):
        Camera.perspective((0, 0, 5), ORIGIN).seen_from(placement)


def test_a_depth_whose_square_vanishes_is_no_division_by_zero() -> None:
    camera = Camera.perspective(ORIGIN, (0, 0, -1), vertical_fov_degrees=60, near=1e-3)
    wide, point = [[0, 0, -1e-170], [1e-3, 1e-3, -1e-170]], [[0, 0, -1e-170], [0, 0, -1e-170]]
    pixels, apart = camera.boxes_near_view(np.array([wide, point]))
    # The corner of the viewport counts: no other angle can be told.
    np.testing.assert_allclose(pixels, camera.focal_pixels / (1e-3 * camera._lens.corner_cosine))
    assert (apart <= 1e-3 * (1 + 1e-12)).all()


def test_the_bound_holds_at_depths_whose_squares_are_nearly_nothing() -> None:
    camera = Camera.perspective(ORIGIN, (0, 0, -1), vertical_fov_degrees=170, near=1e-156)
    corner = np.array([3e-152, 0.0, -1e-152])
    pixels, _ = camera.boxes_near_view(np.array([[corner, corner]]))
    assert pixels[0] >= camera.focal_pixels / 1e-152 * math.sqrt(1 + 3**2)
