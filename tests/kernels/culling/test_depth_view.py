from __future__ import annotations

import numpy as np
import pytest

from hra import Camera
from hra.camera.occlusion import window_matrix
from hra.errors import ArrayError
from hra.kernels.culling.depth_view import DepthView


@pytest.mark.parametrize("reversed_depth", [False, True])
def test_planes_are_positive_inside_and_the_nearest_has_the_smallest_depth(reversed_depth: bool):
    camera = Camera.perspective((0, 0, 5), (0, 0, 0), near=1, far=20, viewport=(64, 48), reversed_depth=reversed_depth)
    view = DepthView.of(window_matrix(camera), (48, 64), reversed_depth)
    near, far = np.array([0.0, 0, 3, 1]), np.array([0.0, 0, -9, 1])
    assert (view.planes @ near > 0).all()
    assert (view.planes @ far > 0).all()
    assert (view.planes @ np.array([0.0, 0, 4.5, 1]))[0] < 0
    depths = [(view.oriented @ point)[2] / (view.oriented @ point)[3] for point in (near, far)]
    assert depths[0] < depths[1]


@pytest.mark.parametrize("matrix", [np.eye(3), np.full((4, 4), np.nan), "view"])
def test_what_is_no_matrix_is_refused(matrix):
    with pytest.raises(ArrayError):
        DepthView.of(matrix, (48, 64), False)
    with pytest.raises(ArrayError, match="slack"):
        DepthView.of(np.eye(4), (48, 64), False, slack=-1.0)
