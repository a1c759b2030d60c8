"""Boxes of many placed copies at once, against the camera in the coordinates of each copy."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.meshes.scene.placed_camera import (
    Eye,
    copies_in_view,
    leave_out,
    lenses,
    planes_between,
    square_pixels_per_unit,
)
from hra.model.arrays import read_only
from tests.helpers.cameras import inside_clip_volume, random_camera
from tests.hra.camera.test_view_bounds import points_in, random_boxes

seeds = st.integers(0, 2**32 - 1)


def single_boxes(rng: np.random.Generator, count: int) -> np.ndarray:
    """Boxes [count, 2, 3] as meshes have them, float32: code is compiled for each kind of numbers."""
    return random_boxes(rng, count).astype(np.float32)


def random_placements(rng: np.random.Generator, count: int) -> np.ndarray:
    """Turned, mirrored, sheared and scaled unevenly, near and far [count, 4, 4]."""
    result = np.tile(np.eye(4), (count, 1, 1))
    result[:, :3, :3] = rng.normal(size=(count, 3, 3)) * rng.choice([0.05, 1.0, 20.0], (count, 1, 1))
    result[:, :3, :3] += 0.02 * np.eye(3)
    result[:, :3, 3] = rng.normal(size=(count, 3)) * rng.choice([1.0, 10.0, 1e4], (count, 1))
    return result


@given(seeds)
def test_pixels_are_those_of_a_moved_camera(seed: int) -> None:
    rng = np.random.default_rng(seed)
    camera, boxes, placements = random_camera(rng), read_only(single_boxes(rng, 20)), random_placements(rng, 9)
    eye = Eye.of(camera)
    rows, _, scale = lenses(eye, placements)
    found = np.empty((len(boxes), len(placements)))
    for box, result in zip(boxes, found, strict=True):
        square_pixels_per_unit(eye, rows, scale, box, result)
    for i, placement in enumerate(placements):
        moved = camera.seen_from(placement)
        np.testing.assert_allclose(scale[i], np.linalg.norm(moved.view[:3, :3], 2), rtol=1e-9)
        expected = moved.visible_pixels_per_unit_in_boxes(boxes)
        seen = expected > 0
        np.testing.assert_allclose(np.sqrt(found[seen, i]), expected[seen], rtol=1e-6)


@given(seeds)
def test_no_visible_point_is_left_out(seed: int) -> None:
    rng = np.random.default_rng(seed)
    camera, boxes, placements = random_camera(rng), single_boxes(rng, 20), random_placements(rng, 9)
    _, planes, _ = lenses(Eye.of(camera), placements)
    points, result = points_in(rng, boxes, 40), np.empty(9)
    for box, own in zip(boxes, points, strict=True):
        result.fill(1.0)
        leave_out(planes, read_only(box), result)
        inside = [not len(planes_between(planes[:, :, i : i + 1].copy(), box)) for i in range(9)]
        for i, placement in enumerate(placements):
            seen = inside_clip_volume(camera, own @ placement[:3, :3].T + placement[:3, 3])
            assert result[i] or not seen.any()
            assert seen.all() or not inside[i]


@given(seeds)
def test_copies_in_view(seed: int) -> None:
    """What is seen is never 0, and what is called wholly in view is."""
    rng = np.random.default_rng(seed)
    camera, placements = random_camera(rng), random_placements(rng, 30)
    sources = single_boxes(rng, 5)
    whole = np.stack([sources[:, 0].min(axis=0), sources[:, 1].max(axis=0)])[None]
    middle = whole[0].mean(axis=0, dtype=np.float64)
    centers = placements[:, :3, :3] @ middle + placements[:, :3, 3]
    radii = np.linalg.norm(whole[0, 1] - middle) * np.linalg.norm(placements[:, :3, :3], 2, axis=(1, 2))
    seen = np.zeros(30, np.int8)
    spheres = read_only(centers), read_only(radii)
    copies_in_view(Eye.of(camera), read_only(placements), np.arange(30), spheres, whole, sources, seen)
    points = points_in(rng, sources, 60).reshape(-1, 3)
    for found, placement in zip(seen, placements, strict=True):
        inside = inside_clip_volume(camera, points @ placement[:3, :3].T + placement[:3, 3])
        assert found > 0 or not inside.any()
        assert found < 2 or inside.all()
