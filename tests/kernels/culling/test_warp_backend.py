from __future__ import annotations

import numpy as np
import pytest

from hra.kernels import depth_pyramid, project_boxes, visible_boxes
from tests.helpers.views import camera_of, random_boxes, window_matrix

SIZE = (75, 100)


def test_the_path_of_device_arrays_gives_the_same():
    warp = pytest.importorskip("warp")
    from hra.kernels.culling import warp_backend
    from hra.kernels.culling.depth_view import DepthView

    view = DepthView.of(window_matrix(camera_of("reversed", (100, 75))), SIZE, True)
    boxes = random_boxes(np.random.default_rng(3), 200)
    # Warp arrays are what the backend gets for a CUDA array; on the CPU they take the same path.
    rects, depth = warp_backend.project_boxes(warp.array(boxes, device="cpu"), view)
    expected = project_boxes(boxes, view.matrix, SIZE, reversed_depth=True)
    np.testing.assert_array_equal(rects.numpy(), expected.rects)
    np.testing.assert_array_equal(depth.numpy(), expected.depth)
    hiz = depth_pyramid(np.full(SIZE, 0.01, np.float32), reversed_depth=True)
    data = warp.array(hiz.data, device="cpu")
    shown = warp_backend.visible(warp_backend.project_boxes, warp.array(boxes, device="cpu"), view, data, hiz.layout)
    assert shown.numpy().tolist() == visible_boxes(hiz, boxes, view.matrix).tolist()
