from __future__ import annotations

import numpy as np
import pytest

from hra.kernels import build_pyramid, rect_max
from hra.kernels.pyramids.levels.pyramid import Layout

RECTS = np.array([[0, 0, 3, 3], [1, 1, 1, 1], [5, 5, 4, 4]], np.int32)


@pytest.mark.parametrize("reduce", ["mean", "max", "min"])
def test_the_path_of_device_arrays_gives_the_same(reduce, dtype, make_image):
    warp = pytest.importorskip("warp")
    from hra.kernels.pyramids.levels import warp_backend

    image = make_image((2, 9, 12, 1), dtype)
    layout = Layout.of(image.shape, None)
    # Warp arrays are what the backend gets for a CUDA array; on the CPU they take the same path.
    data = warp_backend.build_pyramid(warp.array(image, device="cpu"), layout, reduce)
    assert isinstance(data, warp.array)
    np.testing.assert_array_equal(data.numpy(), build_pyramid(image, reduce, backend="warp").data)
    if reduce == "max":
        rects = warp.array(np.concatenate([RECTS, RECTS]), device="cpu")
        index = np.array([0, 1, 0, 1, 2, -1], np.int32)  # an index out of range is an empty rectangle on a device
        found = warp_backend.rect_reduce(data, layout, rects, warp.array(index, device="cpu"), reduce).numpy()
        pyramid = build_pyramid(image, "max")
        np.testing.assert_array_equal(found[:4], rect_max(pyramid, rects.numpy()[:4], index[:4]))
        assert set(found[4:].tolist()) == {-np.inf if dtype is np.float32 else 0}
