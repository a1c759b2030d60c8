"""A depth buffer with its camera: what it hides far away, and that no surface hides itself."""

from __future__ import annotations

import numpy as np
import pytest

from hra import Camera
from hra.camera.occlusion import Occlusion, window_matrix
from tests.helpers.views import View, camera_of


@pytest.mark.parametrize("far", [np.inf, 1000.0])
@pytest.mark.parametrize("near", [1e-1, 1e-7, 1e-12, 1e-30])
def test_reversed_depth_hides_however_near_the_near_plane_is(near, far):
    camera = Camera.perspective((0, 0, 0), (0, 0, -1), viewport=(64, 48), near=near, far=far, reversed_depth=True)
    clip = window_matrix(camera) @ [0, 0, -1, 1]
    wall = Occlusion.of(np.full((48, 64), clip[2] / clip[3], np.float32), camera)
    centers = np.array([[0, 0, -2], [0.1, 0.2, -50], [0, 0, -0.9]])
    assert wall.visible_boxes(np.stack([centers - 0.01, centers + 0.01], axis=1)).tolist() == [False, False, True]
    assert wall.visible_spheres(centers, np.full(3, 0.01)).tolist() == [False, False, True]


@pytest.mark.parametrize("kind", ["reversed", "orthographic reversed"])
def test_a_surface_in_reversed_depth_does_not_hide_itself(kind):
    rng = np.random.default_rng(5)
    near = -np.exp(rng.uniform(np.log(0.2), np.log(149.9 if "ortho" in kind else 1e6), 300))
    low = np.column_stack([rng.uniform(-0.3, 0.2, (300, 2)) * np.minimum(-near, 50)[:, None], near])
    side = 0.02 * (np.full(300, 20) if "ortho" in kind else -near)[:, None]
    walls = np.stack([low, low + [1, 1, 0] * side], axis=1).astype(np.float32)
    view = View.of_boxes(camera_of(kind, (800, 600)), walls)
    assert view.seen.any()
    found = Occlusion(view.hiz, view.camera).visible_boxes(walls)
    assert found[view.seen].all()
