"""Cameras against hand-made matrices, sampled points and finite differences; and the bad cameras that are refused."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.camera import Camera
from hra.errors import ArrayError, CameraError
from tests.helpers.cameras import inside_clip_volume, random_camera, unit_vectors

ORIGIN = (0.0, 0.0, 0.0)
FAR = [math.inf, 100.0]
REVERSED = [False, True]
seeds = st.integers(0, 2**32 - 1)


def points_in_spheres(rng: np.random.Generator, centers: np.ndarray, radii: np.ndarray, count: int) -> np.ndarray:
    """Random points [N, count, 3], half of them on the surface."""
    directions = unit_vectors(rng, len(centers) * count).reshape(len(centers), count, 3)
    fractions = np.minimum(1, 2 * rng.random((len(centers), count, 1)))
    return centers[:, None] + radii[:, None, None] * fractions * directions


def clip_by_hand(camera: Camera, point: np.ndarray) -> np.ndarray:
    """The clip-space coordinates of one point, element by element."""
    vector = [*point, 1.0]
    for matrix in (camera.view, camera.projection):
        vector = [sum(matrix[row, column] * vector[column] for column in range(4)) for row in range(4)]
    return np.array(vector)


class TestProjection:
    @pytest.mark.parametrize("far", FAR)
    @pytest.mark.parametrize("reversed_depth", REVERSED)
    def test_known_pixels(self, far: float, reversed_depth: bool):
        camera = Camera.perspective(
            (0, 0, 5),
            ORIGIN,
            vertical_fov_degrees=90,
            viewport=(200, 100),
            near=1,
            far=far,
            reversed_depth=reversed_depth,
        )
        # 90 degrees: at depth 5 the screen is 10 units high, so a unit is 10 pixels.
        shown = camera.project([[0, 0, 0], [1, 0, 0], [0, 1, 0], [-10, -5, 0], [0, 0, 10], [0, 0, 4]])
        np.testing.assert_allclose(shown.pixels[:4], [[100, 50], [110, 50], [100, 40], [0, 100]], atol=1e-9)
        np.testing.assert_allclose(shown.depth, [5, 5, 5, 5, -5, 1])
        assert shown.in_front.tolist() == [True, True, True, True, False, True]

    @given(seeds)
    def test_equals_multiplication_and_division_by_hand(self, seed: int):
        rng = np.random.default_rng(seed)
        camera = random_camera(rng)
        points = rng.normal(size=(20, 3)) * 5
        shown = camera.project(points)
        for point, pixel, depth, in_front in zip(points, *shown, strict=True):
            x, y, _, w = clip_by_hand(camera, point)
            assert depth == pytest.approx(-(camera.view[2, :3] @ point + camera.view[2, 3]), abs=1e-12)
            assert in_front == (depth >= camera.near)
            if in_front:
                width, height = camera.viewport
                expected = [(x / w + 1) / 2 * width, (1 - y / w) / 2 * height]
                np.testing.assert_allclose(pixel, expected, rtol=1e-6, atol=1e-6)

    def test_depth_runs_from_near_to_far(self):
        for far in FAR:
            for reversed_depth, ends in ((False, [-1, 1]), (True, [1, 0])):
                camera = Camera.perspective(ORIGIN, (0, 0, -1), near=0.5, far=far, reversed_depth=reversed_depth)
                depths = []
                for distance in (0.5, min(far, 1e12)):
                    _, _, z, w = clip_by_hand(camera, np.array([0, 0, -distance]))
                    depths.append(z / w)
                np.testing.assert_allclose(depths, ends, atol=1e-9)
                assert camera.reversed_depth is reversed_depth

    def test_orthographic_depth_and_size(self):
        for reversed_depth, ends in ((False, [-1, 1]), (True, [1, 0])):
            camera = Camera.orthographic(
                ORIGIN, (0, 0, -1), height=4, near=-2, far=8, viewport=(80, 40), reversed_depth=reversed_depth
            )
            depths = [clip_by_hand(camera, np.array([0, 0, -d]))[2] for d in (-2, 8)]
            np.testing.assert_allclose(depths, ends, atol=1e-12)
            assert (camera.is_perspective, camera.reversed_depth) == (False, reversed_depth)
            assert camera.near == pytest.approx(-2)
            np.testing.assert_allclose(camera.project([[4, 2, -3], [-4, -2, 1]]).pixels, [[80, 0], [0, 40]])

    def test_position_is_the_eye(self):
        camera = Camera.perspective((1, 2, 3), (4, 4, 4))
        np.testing.assert_allclose(camera.position, [1, 2, 3])
        np.testing.assert_allclose(camera.view @ [1, 2, 3, 1], [0, 0, 0, 1], atol=1e-12)

    def test_near_is_read_from_the_matrix(self):
        for far in FAR:
            for reversed_depth in REVERSED:
                camera = Camera.perspective(ORIGIN, (0, 0, -1), near=0.25, far=far, reversed_depth=reversed_depth)
                assert camera.near == pytest.approx(0.25)

    def test_no_points(self):
        shown = Camera.perspective((0, 0, 5), ORIGIN).project(np.empty((0, 3)))
        assert shown.pixels.shape == (0, 2)


class TestOrbit:
    BOUNDS = ((1.0, 2.0, 3.0), (3.0, 6.0, 7.0))

    @given(seeds)
    def test_the_bounding_sphere_fits_the_viewport(self, seed: int):
        rng = np.random.default_rng(seed)
        viewport = (int(rng.integers(10, 2000)), int(rng.integers(10, 2000)))
        camera = Camera.orbit(
            self.BOUNDS,
            rng.uniform(-360, 360),
            rng.uniform(-90, 90),
            viewport=viewport,
            vertical_fov_degrees=rng.uniform(10, 120),
        )
        shown = camera.project([2, 4, 5] + 3 * unit_vectors(rng, 2000))
        assert shown.in_front.all()
        assert (shown.pixels >= -1e-6).all() and (shown.pixels <= np.array(viewport) + 1e-6).all()
        reach = np.abs(shown.pixels - np.array(viewport) / 2).max(axis=0)
        assert (reach / (np.array(viewport) / 2)).max() > 0.9  # and it is not needlessly small

    def test_directions(self):
        center = np.array([2, 4, 5])
        places = {(0, 0): [0, 0, 1], (90, 0): [1, 0, 0], (180, 0): [0, 0, -1], (0, 90): [0, 1, 0], (0, -90): [0, -1, 0]}
        for (azimuth, elevation), direction in places.items():
            camera = Camera.orbit(self.BOUNDS, azimuth, elevation, distance=10)
            np.testing.assert_allclose(camera.position, center + 10 * np.array(direction), atol=1e-9)

    def test_inside_the_box_and_around_one_point(self):
        assert Camera.orbit(self.BOUNDS, distance=0.1).near > 0
        assert Camera.orbit(np.zeros((2, 3))).project([[0, 0, 0]]).in_front.all()

    @pytest.mark.parametrize(
        ("bounds", "options"),
        [
            (BOUNDS[::-1], {}),
            ([[0, 0, math.nan], [1, 1, 1]], {}),
            ([0, 1], {}),
            (BOUNDS, {"distance": 0}),
            (BOUNDS, {"azimuth": math.nan}),
            (BOUNDS, {"elevation": math.inf}),
        ],
    )
    def test_bad_placements_are_refused(self, bounds, options: dict):
        with pytest.raises(CameraError):
            Camera.orbit(bounds, **options)


class TestPixelsPerUnit:
    def test_known_values(self):
        camera = Camera.perspective((0, 0, 5), ORIGIN, vertical_fov_degrees=90, viewport=(200, 100), near=0.5)
        centers = [[0, 0, 0], [0, 0, -5]]
        # Focal length 50 px; the spheres' nearest points are 5 and 10 units away, straight ahead.
        np.testing.assert_allclose(camera.pixels_per_unit(centers, [0, 0]), [10, 5])
        # A sphere adds its angle: the nearest distance is 4, its silhouette has the sine 1/5.
        np.testing.assert_allclose(camera.pixels_per_unit(centers[:1], [1]), [50 / 4 / (1 - 1 / 25)])

    @given(seeds)
    def test_bounds_the_finite_differences_of_visible_points(self, seed: int):
        rng = np.random.default_rng(seed)
        camera = random_camera(rng)
        centers, radii = rng.normal(size=(50, 3)) * 3, rng.exponential(1, 50)
        bound = np.repeat(camera.pixels_per_unit(centers, radii), 40)
        points = points_in_spheres(rng, centers, radii, 40).reshape(-1, 3)
        step = 1e-5 * unit_vectors(rng, len(points))
        moved = camera.project(points + step).pixels - camera.project(points - step).pixels
        seen = inside_clip_volume(camera, points) & (camera.project(points - step).depth > camera.near)
        seen &= camera.project(points + step).depth > camera.near
        assert (np.linalg.norm(moved, axis=1)[seen] / 2e-5 <= bound[seen] * (1 + 1e-3)).all()

    @given(seeds)
    def test_tight_for_small_spheres(self, seed: int):
        rng = np.random.default_rng(seed)
        camera = Camera.perspective((0, 0, 5), ORIGIN, vertical_fov_degrees=rng.uniform(20, 120))
        points = rng.normal(size=(30, 3))
        points = points[inside_clip_volume(camera, points)]
        steps = 1e-5 * np.concatenate([np.eye(3), unit_vectors(rng, 400)])
        moved = camera.project((points[:, None] + steps).reshape(-1, 3)).pixels.reshape(len(points), -1, 2)
        largest = np.linalg.norm(moved - camera.project(points).pixels[:, None], axis=2).max(axis=1, initial=0) / 1e-5
        bound = camera.pixels_per_unit(points, np.zeros(len(points)))
        assert (largest >= 0.95 * bound).all()

    @given(seeds)
    def test_nested_spheres_are_monotone(self, seed: int):
        rng = np.random.default_rng(seed)
        camera = random_camera(rng)
        centers, radii = rng.normal(size=(200, 3)) * 4, rng.exponential(1, 200)
        offset = unit_vectors(rng, 200) * rng.exponential(1, (200, 1))
        outer = radii + np.linalg.norm(offset, axis=1)
        inner = camera.pixels_per_unit(centers, radii)
        assert (camera.pixels_per_unit(centers + offset, outer * (1 + 1e-12)) >= inner * (1 - 1e-9)).all()

    def test_orthographic_is_constant(self):
        camera = Camera.orthographic((0, 0, 5), ORIGIN, height=10, far=9, viewport=(200, 100))
        np.testing.assert_allclose(camera.pixels_per_unit(np.eye(3), [0, 1, 9]), [10, 10, 10])

    @pytest.mark.parametrize("radii", [[1.0], [[1.0], [1.0]], ["a", "b"], 1.0])
    def test_bad_arrays_are_refused(self, radii):
        camera = Camera.perspective((0, 0, 5), ORIGIN)
        with pytest.raises(ArrayError):
            camera.pixels_per_unit(np.zeros((2, 3)), radii)
        with pytest.raises(ArrayError):
            camera.spheres_visible(np.zeros((2, 2)), [1.0, 1.0])

    def test_read_only_integer_and_strided_arrays(self):
        camera = Camera.perspective((0, 0, 5), ORIGIN)
        centers = np.arange(12).reshape(2, 6)[:, ::2]
        centers.flags.writeable = False
        expected = camera.pixels_per_unit(centers.astype(float).copy(), np.ones(2))
        np.testing.assert_array_equal(camera.pixels_per_unit(centers, np.ones(2, np.int8)), expected)


class TestSpheresVisible:
    @given(seeds)
    def test_never_drops_a_visible_sphere(self, seed: int):
        rng = np.random.default_rng(seed)
        camera = random_camera(rng)
        centers, radii = rng.normal(size=(100, 3)) * 6, rng.exponential(1, 100)
        samples = points_in_spheres(rng, centers, radii, 60)
        touched = inside_clip_volume(camera, samples.reshape(-1, 3)).reshape(100, 60).any(axis=1)
        assert camera.spheres_visible(centers, radii)[touched].all()

    @pytest.mark.parametrize("far", FAR)
    @pytest.mark.parametrize("reversed_depth", REVERSED)
    def test_drops_what_lies_beyond_each_plane(self, far: float, reversed_depth: bool):
        camera = Camera.perspective(ORIGIN, (0, 0, -1), near=1, far=far, reversed_depth=reversed_depth)
        outside = np.array([[-40, 0, -10], [40, 0, -10], [0, -40, -10], [0, 40, -10], [0, 0, 5], [0, 0, -0.4]])
        radii = np.array([1, 1, 1, 1, 1, 0.5])
        assert not camera.spheres_visible(outside, radii).any()
        assert camera.spheres_visible(outside, radii + 60).all()
        assert camera.spheres_visible([[0, 0, -200]], [1]).tolist() == [math.isinf(far)]

    def test_small_visible_spheres_and_few_in_vain(self):
        rng = np.random.default_rng(0)
        camera = Camera.perspective(ORIGIN, (0, 0, -1))
        points = rng.normal(size=(10_000, 3))
        visible = camera.spheres_visible(points, np.zeros(len(points)))
        np.testing.assert_array_equal(visible, inside_clip_volume(camera, points))


class TestHardCameras:
    """Cases that must work: 74-76, 78 and 81 of the list of bad inputs."""

    @pytest.mark.case(74)
    def test_camera_inside_a_bound(self):
        camera = Camera.perspective(ORIGIN, (0, 0, -1), vertical_fov_degrees=90, viewport=(100, 100), near=0.1)
        corner = 1 + 1 + 1  # 1 / cos**2 of the viewport's corner
        np.testing.assert_allclose(camera.pixels_per_unit([[0, 0, 1]], [5]), [50 / 0.1 * corner])
        assert camera.spheres_visible([[0, 0, 1]], [5]).all()

    @pytest.mark.case(75)
    def test_near_plane_crossing(self):
        camera = Camera.perspective(ORIGIN, (0, 0, -1), near=1)
        crossing = np.array([[0.0, 0, -0.9]])
        assert camera.spheres_visible(crossing, [0.2]).all()
        assert np.isfinite(camera.pixels_per_unit(crossing, [0.2])).all()
        shown = camera.project([[0.1, 0, -0.9], [0.1, 0, -1]])
        assert shown.in_front.tolist() == [False, True]
        np.testing.assert_allclose(shown.pixels[0], shown.pixels[1])

    @pytest.mark.case(76)
    def test_behind(self):
        camera = Camera.perspective(ORIGIN, (0, 0, -1))
        behind = np.array([[0, 0, 2], [0, 0, 20], [3, 1, 0], [0, 0, 0]], float)
        values = camera.pixels_per_unit(behind, [1, 1, 1, 0])
        assert np.isfinite(values).all() and (values > 0).all() and values[1] < values[0]
        assert not camera.spheres_visible(behind, [1, 1, 0, 0]).any()
        shown = camera.project(behind)
        assert np.isfinite(shown.pixels).all() and not shown.in_front.any()

    @pytest.mark.case(78)
    @pytest.mark.parametrize("far", [*FAR, 1e20])
    @pytest.mark.parametrize("reversed_depth", REVERSED)
    def test_infinite_far_and_reversed_depth_see_the_same(self, far: float, reversed_depth: bool):
        rng = np.random.default_rng(1)
        centers, radii = rng.normal(size=(500, 3)) * 10, rng.random(500)
        plain = Camera.perspective((1, 2, 3), ORIGIN, far=100)
        camera = Camera.perspective((1, 2, 3), ORIGIN, far=far, reversed_depth=reversed_depth)
        np.testing.assert_allclose(camera.pixels_per_unit(centers, radii), plain.pixels_per_unit(centers, radii))
        np.testing.assert_array_equal(camera.spheres_visible(centers, radii), plain.spheres_visible(centers, radii))
        np.testing.assert_allclose(camera.project(centers).pixels, plain.project(centers).pixels)

    @pytest.mark.case(81)
    def test_mirrored_view_flips_the_screen(self):
        camera = Camera.perspective((0, 0, 5), ORIGIN, viewport=(640, 480))
        mirrored = Camera.from_matrices(np.diag([-1, 1, 1, 1]) @ camera.view, camera.projection, camera.viewport)
        points = np.random.default_rng(0).normal(size=(50, 3))
        flipped = mirrored.project(points).pixels * (-1, 1) + (640, 0)
        np.testing.assert_allclose(flipped, camera.project(points).pixels)
        ones = np.ones(50)
        np.testing.assert_allclose(mirrored.pixels_per_unit(points, ones), camera.pixels_per_unit(points, ones))

    @pytest.mark.case(81)
    def test_scale_counts_with_its_largest_axis(self):
        camera = Camera.perspective((0, 0, 5), ORIGIN, vertical_fov_degrees=90, viewport=(100, 100))
        scaled = Camera.from_matrices(camera.view @ np.diag([3, 1, 0.5, 1]), camera.projection, camera.viewport)
        np.testing.assert_allclose(scaled.pixels_per_unit([ORIGIN], [0]), [30])

    def test_any_multiple_of_a_projection_is_the_same(self):
        camera = Camera.perspective((0, 0, 5), ORIGIN)
        doubled = Camera.from_matrices(camera.view, 2 * camera.projection, camera.viewport)
        np.testing.assert_allclose(doubled.projection, camera.projection)

    @pytest.mark.parametrize("size", [1e7, 1e-9])
    def test_extreme_units(self, size: float):
        camera = Camera.orbit([[-size] * 3, [size] * 3], azimuth=30, elevation=20, viewport=(100, 100))
        assert camera.spheres_visible([ORIGIN], [size]).all()
        assert 10 / size < camera.pixels_per_unit([ORIGIN], [size / 10])[0] < 100 / size


class TestBadCameras:
    """Cases that are refused: 77, 79 and 80 of the list of bad inputs, and what else makes no camera."""

    @pytest.mark.case(77)
    @pytest.mark.parametrize(
        "options",
        [
            {"vertical_fov_degrees": 0},
            {"vertical_fov_degrees": 180},
            {"vertical_fov_degrees": -10},
            {"vertical_fov_degrees": math.nan},
            {"vertical_fov_degrees": "wide"},
            {"near": 0},
            {"near": -1},
            {"near": math.inf},
            {"near": 1, "far": 1},
            {"near": 2, "far": 1},
            {"far": math.nan},
            {"eye": ORIGIN},
            {"eye": (0, 0, math.nan)},
            {"eye": (0, 0)},
            {"eye": None},
            {"up": (0, 0, 7)},
            {"up": ORIGIN},
            {"up": (0, 0, -1e-3)},
        ],
    )
    def test_perspective(self, options: dict):
        with pytest.raises(CameraError) as caught:
            Camera.perspective(**{"eye": (0, 0, 5), "target": ORIGIN, **options})
        assert caught.value.where

    @pytest.mark.case(80)
    @pytest.mark.parametrize("viewport", [(0, 1), (1, 0), (-1, 5), (1.5, 2), (2.0, 2.0), (1, 2, 3), 7, None, "ab"])
    def test_viewport(self, viewport):
        with pytest.raises(CameraError, match="viewport"):
            Camera.perspective((0, 0, 5), ORIGIN, viewport=viewport)
        with pytest.raises(CameraError, match="viewport"):
            Camera.orthographic((0, 0, 5), ORIGIN, height=1, far=2, viewport=viewport)
        with pytest.raises(CameraError, match="viewport"):
            Camera.orbit(TestOrbit.BOUNDS, viewport=viewport)

    @pytest.mark.parametrize("options", [{"height": 0}, {"height": math.nan}, {"far": 0}, {"far": math.inf}])
    def test_orthographic(self, options: dict):
        with pytest.raises(CameraError):
            Camera.orthographic((0, 0, 5), ORIGIN, **{"height": 1.0, "far": 2.0, **options})

    @pytest.mark.case(79)
    @pytest.mark.parametrize("which", ["view", "projection"])
    @pytest.mark.parametrize(
        ("damage", "message"),
        [
            (lambda m: m * math.nan, "nan"),
            (lambda m: m + np.where(np.eye(4), math.inf, 0), "inf"),
            (lambda m: m @ np.diag([1, 0, 1, 1]), "singular"),
            (lambda m: m[:3], "shape"),
            (lambda m: m.astype(str), "numbers"),
            (lambda m: m + 1e-3 * np.eye(4)[3][:, None] * [1, 0, 0, 0], "last row|affine"),
        ],
    )
    def test_matrices(self, which: str, damage, message: str):
        camera = Camera.perspective((0, 0, 5), ORIGIN)
        matrices = {"view": camera.view, "projection": camera.projection}
        matrices[which] = damage(matrices[which])
        with pytest.raises(CameraError, match=message) as caught:
            Camera.from_matrices(**matrices, viewport=(10, 10))
        assert which in caught.value.where

    @pytest.mark.parametrize(
        "depth_rows",
        [
            [[0, 0, 0, 0], [0, 0, -1, 0]],  # no depth
            [[0, 0, 1, -2], [0, 0, 1, 0]],  # looks along +Z
            [[0, 0, 1.1, -0.2], [0, 0, -1, 0]],  # near plane behind the eye
            [[0, 0, 1, 0], [0, 0, 0, 0]],  # no w
        ],
    )
    def test_projections_of_another_form(self, depth_rows: list):
        with pytest.raises(CameraError):
            Camera.from_matrices(np.eye(4), [[1, 0, 0, 0], [0, 1, 0, 0], *depth_rows], (10, 10))


class TestObject:
    def test_matrices_are_copied_and_read_only(self):
        view = np.eye(4)
        camera = Camera(view, Camera.perspective((0, 0, 5), ORIGIN).projection, (10, 10))
        view[:] = 0
        np.testing.assert_array_equal(camera.view, np.eye(4))
        with pytest.raises(ValueError, match="read-only"):
            camera.view[0, 0] = 2

    def test_pickle(self):
        camera = Camera.perspective((0, 0, 5), ORIGIN)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(camera)).planes, camera.planes)


def test_orbit_turns_around_the_given_up_vector() -> None:
    box = [[-1, -1, -1], [1, 1, 1]]
    for azimuth, expected in ((0, (0, -1, 0)), (90, (1, 0, 0)), (180, (0, 1, 0))):
        camera = Camera.orbit(box, azimuth, up=(0, 0, 2))
        np.testing.assert_allclose(camera.position / np.linalg.norm(camera.position), expected, atol=1e-12)
        above = camera.project([[0, 0, 0.5]]).pixels[0]
        assert above[0] == pytest.approx(960) and above[1] < 540, "z points up on the screen"
    tilted = Camera.orbit(box, 40, 90, up=(1, 1, 1))
    np.testing.assert_allclose(tilted.position / np.linalg.norm(tilted.position), np.full(3, 3**-0.5), atol=1e-12)


@pytest.mark.parametrize("up", [(0, 0, 0), (0, np.nan, 1), (0, 1)])
def test_orbit_refuses_an_up_that_is_no_direction(up: tuple[float, ...]) -> None:
    with pytest.raises(CameraError):
        Camera.orbit([[0, 0, 0], [1, 1, 1]], up=up)


@pytest.mark.parametrize("kind", ["perspective", "orthographic"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_pass_over_spheres_equals_two(kind: str, dtype: type) -> None:
    rng = np.random.default_rng(0)
    options = {"height": 3.0, "far": 20.0} if kind == "orthographic" else {"far": 20.0}
    camera = getattr(Camera, kind)((0, 0, 5), (0, 0, 0), viewport=(640, 480), **options)
    centers, radii = rng.normal(0, 4, (2000, 3)).astype(dtype), rng.random(2000).astype(dtype)
    where = rng.random(2000) < 0.7
    visible = camera.spheres_visible(centers, radii)
    expected = np.where(visible, camera.pixels_per_unit(centers, radii), 0.0)
    assert 0 < visible.sum() < 2000
    np.testing.assert_allclose(camera.visible_pixels_per_unit(centers, radii), expected, rtol=1e-12)
    np.testing.assert_allclose(camera.visible_pixels_per_unit(centers, radii, where), expected * where, rtol=1e-12)


@pytest.mark.parametrize("viewport", [(1_000_000, 1_000_000), (65_537, 1), (2**14, 2**14), (10**400, 10**400)])
def test_viewports_beyond_any_screen_are_refused(viewport: tuple[int, int]):
    with pytest.raises(CameraError, match="viewport") as caught:
        Camera.perspective((0, 0, 5), (0, 0, 0), viewport=viewport)
    assert caught.value.fix and len(str(caught.value)) < 300
    assert Camera.perspective((0, 0, 5), (0, 0, 0), viewport=(65_536, 2048)).viewport == (65_536, 2048)


@pytest.mark.parametrize("far_away", [1e151, 1e308])
def test_places_whose_squares_overflow_are_refused(far_away: float):
    with pytest.raises(CameraError, match="too large"):
        Camera.perspective((0, 0, far_away), (0, 0, 0))
    with pytest.raises(CameraError, match="too large"):
        Camera.orbit([[0, 0, 0], [1, 1, 1]], distance=far_away)
    with pytest.raises(CameraError, match="too large"):
        Camera.orbit([[0, 0, 0], [far_away, 1, 1]])
