from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra import Camera
from hra.camera.occlusion import window_matrix
from hra.kernels.culling import reference
from hra.kernels.culling.depth_view import DepthView

WIDTH, HEIGHT = 64, 48


@given(st.integers(0, 10**6), st.booleans())
@pytest.mark.parametrize("kind", ["boxes", "spheres"])
def test_every_point_of_a_bound_lies_in_its_rectangle_and_not_before_its_depth(kind: str, seed: int, reverse: bool):
    rng = np.random.default_rng(seed)
    camera = Camera.perspective(
        (0, 0, 6), rng.normal(size=3), near=0.5, far=30, viewport=(WIDTH, HEIGHT), reversed_depth=reverse
    )
    view = DepthView.of(window_matrix(camera), (HEIGHT, WIDTH), reverse)
    center, size = rng.normal(size=(20, 3)) * 3, rng.random((20, 1))
    if kind == "boxes":
        rects, depth = reference.project_boxes(np.stack([center - size, center + size], axis=1), view)
        offset = rng.uniform(-1, 1, (20, 3))
    else:
        rects, depth = reference.project_spheres(np.concatenate([center, size], axis=1), view)
        offset = rng.normal(size=(20, 3))
        offset /= np.maximum(np.linalg.norm(offset, axis=1, keepdims=True), 1)
    x, y, z, w = view.matrix @ np.c_[center + offset * size, np.ones(20)].T
    seen = (np.abs(x) < w) & (np.abs(y) < w) & (z > 0) & (z < w)
    pixels = np.stack([(1 + x / w) * WIDTH / 2, (1 - y / w) * HEIGHT / 2], axis=1)
    first, last = rects[:, :2], rects[:, 2:] + 1
    assert ((first <= pixels) & (pixels <= last))[seen].all()
    nearest = depth >= z / w if reverse else depth <= z / w
    assert nearest[seen].all()
