from __future__ import annotations

import numpy as np
import pytest

from hra.kernels import gaussian_pyramid


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.uint8])
def test_the_path_of_device_arrays_gives_the_same(dtype, make_image):
    warp = pytest.importorskip("warp")
    from hra.kernels.pyramids.burt import warp_backend
    from hra.kernels.pyramids.laplacian import gaussian_levels
    from hra.kernels.pyramids.levels.pyramid import Layout

    image = make_image((2, 9, 12, 3), dtype)
    # Warp arrays are what the backend gets for a CUDA array; on the CPU they take the same path.
    data = gaussian_levels(warp.array(image, device="cpu"), Layout.of(image.shape, None), warp_backend)
    assert isinstance(data, warp.array)
    np.testing.assert_array_equal(data.numpy(), gaussian_pyramid(image, backend="warp").data)
