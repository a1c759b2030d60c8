from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.camera import Camera
from hra.domains.textures import AnalyticFeedback, PlaneScene, TexturedPlane
from hra.domains.textures.views.raycast import cast_rays
from hra.errors import CameraError


def ray(camera: Camera, column: float, row: float) -> tuple[np.ndarray, np.ndarray]:
    """Points on the near and the far plane under a position in pixels, by inverting the whole projection."""
    width, height = camera.viewport
    near, far = (1.0, 0.0) if camera.reversed_depth else (-1.0, 1.0)
    device = np.array([[2 * column / width - 1, 1 - 2 * row / height, depth, 1] for depth in (near, far)])
    world = np.linalg.solve(camera.projection @ camera.view, device.T).T
    return world[0, :3] / world[0, 3], world[1, :3] / world[1, 3]


def intersect(plane: TexturedPlane, start: np.ndarray, end: np.ndarray) -> tuple[float, float, float]:
    """Texel position on the unbounded plane, and the share of the way from ``start`` to ``end``."""
    rows, columns = plane.texture.mips[0].shape[:2]
    u, v, share = np.linalg.solve(np.stack([plane.u_axis, plane.v_axis, start - end], axis=1), start - plane.origin)
    return u * columns, v * rows, share


def reference_hit(scene: PlaneScene, camera: Camera, column: float, row: float) -> tuple[int, float, float]:
    """Nearest plane between near and far, -1 for none, and the texel."""
    start, end = ray(camera, column, row)
    hits = []
    for index, plane in enumerate(scene.planes):
        x, y, share = intersect(plane, start, end)
        rows, columns = plane.texture.mips[0].shape[:2]
        if 0 <= share <= 1 and 0 <= x < columns and 0 <= y < rows:
            hits.append((share, index, x, y))
    return min(hits)[1:] if hits else (-1, 0.0, 0.0)


def reference_footprint(plane: TexturedPlane, camera: Camera, column: float, row: float) -> float:
    """Longer of the two steps in texels from one pixel to the next, by central differences."""
    step = 1e-4
    steps = []
    for right, down in ((step, 0), (0, step)):
        after = np.array(intersect(plane, *ray(camera, column + right, row + down))[:2])
        before = np.array(intersect(plane, *ray(camera, column - right, row - down))[:2])
        steps.append(np.linalg.norm(after - before) / (2 * step))
    return max(1.0, *steps)


@given(seed=st.integers(0, 10**6))
def test_hits_are_those_of_plain_ray_casting(seed: int, scene: PlaneScene, camera_of: Callable[..., Camera]) -> None:
    camera = camera_of(seed, (9, 7))
    hits = cast_rays(scene, camera)
    for row in range(7):
        for column in range(9):
            index, x, y = reference_hit(scene, camera, column + 0.5, row + 0.5)
            assert hits.plane[row, column] == index
            if index >= 0:
                assert (hits.x[row, column], hits.y[row, column]) == pytest.approx((x, y), rel=1e-6, abs=1e-6)
                footprint = reference_footprint(scene.planes[index], camera, column + 0.5, row + 0.5)
                assert hits.footprint[row, column] == pytest.approx(footprint, rel=1e-3)


def test_the_random_views_see_ground_wall_and_sky(scene: PlaneScene, camera_of: Callable[..., Camera]) -> None:
    seen = np.concatenate([cast_rays(scene, camera_of(seed)).plane.ravel() for seed in range(50)])
    assert (np.bincount(seen + 1) > 1000).all()


def test_pages_are_those_under_the_pixels(scene: PlaneScene, camera_of: Callable[..., Camera]) -> None:
    for seed in range(10):
        camera = camera_of(seed)
        expected: dict[tuple[int, int, int], int] = {}
        for row, column in np.ndindex(17, 24):
            index, x, y = reference_hit(scene, camera, column + 0.5, row + 0.5)
            if index >= 0:
                key = (index, int(y) // 8, int(x) // 8)
                expected[key] = expected.get(key, 0) + 1
        feedback = AnalyticFeedback(scene, stride=1).observe(camera)
        counts = np.bincount(feedback.page, feedback.pixels)
        node = scene.textures.hierarchy.node
        found = {
            (int(node["texture"][page]), int(node["y"][page]), int(node["x"][page])): int(counts[page])
            for page in np.flatnonzero(counts)
        }
        assert found == expected
        assert (node["level"][np.flatnonzero(counts)] == 0).all()


@pytest.mark.parametrize("stride", [1, 2, 3, 4, 50])
def test_cells_cover_the_viewport_once(scene: PlaneScene, stride: int) -> None:
    camera = Camera.perspective((0, 1, 0), (0.1, 0, 0.1), viewport=(37, 23), vertical_fov_degrees=40)
    feedback = AnalyticFeedback(scene, stride).observe(camera)
    assert feedback.pixels.sum() == feedback.viewport_pixels == 37 * 23


@pytest.mark.parametrize("stride", [2, 4])
def test_coarse_strides_estimate_the_area_of_every_tile(
    scene: PlaneScene, stride: int, camera_of: Callable[..., Camera]
) -> None:
    pages, misses = scene.textures.hierarchy.node_cost.size, []
    for seed in range(8):
        camera = camera_of(seed, (480, 270))
        exact, estimate = (
            np.bincount(feedback.page, feedback.pixels, pages)
            for feedback in (AnalyticFeedback(scene, s).observe(camera) for s in (1, stride))
        )
        seen = exact > 0
        misses.append((estimate - exact)[seen] / (stride**1.5 * np.sqrt(4 * np.sqrt(exact[seen]))))
    assert np.sqrt(np.mean(np.concatenate(misses) ** 2)) < 1


def test_looking_away_sees_nothing(scene: PlaneScene) -> None:
    feedback = AnalyticFeedback(scene).observe(Camera.perspective((0, 3, 0), (0, 9, 1)))
    assert feedback.page.size == feedback.pixels.size == feedback.footprint.size == 0


@pytest.mark.parametrize("eye", [(0.0, 0.0, 0.0), (-5.0, 0.0, -375 / 117), (20.0, 0.0, 0.0)])
def test_a_plane_seen_edge_on_is_invisible(scene: PlaneScene, eye: tuple[float, float, float]) -> None:
    ground = PlaneScene(scene.planes[:1])
    target = (eye[0] - 1.0, 0.0, eye[2] - 0.3)
    hits = cast_rays(ground, Camera.perspective(eye, target, viewport=(16, 16)))
    assert (hits.plane == -1).all()


def test_the_wanted_level_is_the_distance_in_octaves(scene: PlaneScene) -> None:
    # From above, texels per pixel grow linearly with the height.
    ground = PlaneScene(scene.planes[:1])
    texels_per_unit = 11.7
    for height in (2.0, 4.0, 8.0):
        camera = Camera.perspective((0, height, 0), (0, 0, 0), up=(0, 0, -1), viewport=(11, 11), vertical_fov_degrees=9)
        level = AnalyticFeedback(ground, 1).observe(camera).wanted_level
        pixel = 2 * height * np.tan(np.radians(4.5)) / 11
        np.testing.assert_allclose(level, max(0.0, np.log2(pixel * texels_per_unit)), atol=1e-5)


def test_magnified_texels_want_level_zero(scene: PlaneScene) -> None:
    feedback = AnalyticFeedback(scene, 1).observe(Camera.perspective((0, 0.3, 0), (0.1, 0, 0), viewport=(64, 64)))
    assert (feedback.wanted_level == 0).any()
    assert (feedback.wanted_level >= 0).all()


def test_the_unit_of_the_world_does_not_matter(scene: PlaneScene) -> None:
    eye, target = np.array([3.0, 1.5, 2.0]), np.array([0.0, 0.0, 0.0])
    hits = cast_rays(scene, Camera.perspective(eye, target, viewport=(24, 17)))
    for scale in (1e-6, 1e6):
        planes = [
            replace(p, origin=p.origin * scale, u_axis=p.u_axis * scale, v_axis=p.v_axis * scale) for p in scene.planes
        ]
        camera = Camera.perspective(eye * scale, target, viewport=(24, 17), near=0.1 * scale)
        scaled = cast_rays(PlaneScene(planes), camera)
        np.testing.assert_array_equal(scaled.plane, hits.plane)
        np.testing.assert_allclose(scaled.footprint, hits.footprint, rtol=1e-5)


def test_a_stride_needs_a_pixel(scene: PlaneScene) -> None:
    with pytest.raises(CameraError):
        cast_rays(scene, Camera.perspective((0, 1, 0), (1, 0, 0)), stride=0)
