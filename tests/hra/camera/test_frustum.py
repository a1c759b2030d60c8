from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hra.camera import Camera, frustum
from hra.camera.view_bounds import rows


def setting(seed: int, far: float = 9.0):
    rng = np.random.default_rng(seed)
    camera = Camera.perspective(rng.normal(size=3) * 4, (0, 0, 0), near=0.5, far=far, viewport=(640, 480))
    return rng, camera, rng.normal(size=(40, 3)) * 4


@given(st.integers(0, 10**6))
def test_spheres_and_boxes_reach_the_frustum_as_their_planes_say(seed: int):
    rng, camera, centers = setting(seed)
    radii = rng.random(len(centers))
    planes = camera.planes
    distances = centers @ planes[:, :3].T + planes[:, 3]
    clear = np.abs(distances + radii[:, None]).min(axis=1) > 1e-9
    found = frustum.spheres_in_frustum(centers, radii, rows(planes))
    np.testing.assert_array_equal(found[clear], np.all(distances[clear] + radii[clear, None] >= 0, axis=1))
    boxes = np.stack([centers - radii[:, None], centers + radii[:, None]], axis=1)
    farthest = distances + radii[:, None] * np.abs(planes[:, :3]).sum(axis=1)
    clear = np.abs(farthest).min(axis=1) > 1e-9
    found = frustum.boxes_in_frustum(boxes, rows(planes))
    np.testing.assert_array_equal(found[clear], (farthest >= 0).all(axis=1)[clear])
    apart = frustum.boxes_to_frustum(boxes, np.ones(len(boxes), bool), rows(planes))
    np.testing.assert_allclose(apart[clear], np.maximum(-farthest.min(axis=1), 0)[clear], atol=1e-9)


@given(st.integers(0, 10**6))
def test_no_point_of_a_bound_in_view_is_stretched_by_more(seed: int):
    rng, camera, centers = setting(seed, np.inf)
    boxes = np.stack([centers - 0.3, centers + 0.3], axis=1)
    bounds = camera.visible_pixels_per_unit_in_boxes(boxes)
    inside = boxes[:, 0] + rng.random((len(boxes), 3)) * 0.6
    step = rng.normal(size=(len(boxes), 3))
    step *= 1e-5 / np.linalg.norm(step, axis=1, keepdims=True)
    here, there = camera.project(inside), camera.project(inside + step)
    shown = here.in_front & (here.pixels >= 0).all(axis=1) & (here.pixels <= camera.viewport).all(axis=1)
    moved = np.linalg.norm(there.pixels - here.pixels, axis=1) / 1e-5
    assert (moved[shown] <= bounds[shown] * (1 + 1e-3)).all()
