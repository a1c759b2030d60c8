"""The driver's mipmaps: right at powers of two, and known to lose the mean elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from hra.errors import ArrayError, CameraError
from hra.kernels import build_pyramid
from hra.kernels.raster import Context, HardwareMipmaps


def hardware_levels(context: Context, image: np.ndarray) -> tuple[np.ndarray, ...]:
    with HardwareMipmaps(context, image) as mipmaps:
        mipmaps.build()
        return mipmaps.read()


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
@pytest.mark.parametrize("size", [(1, 1), (64, 64), (16, 128)])
def test_powers_of_two_are_means(context, make_image, size, dtype, channels):
    image = make_image((*size, channels), dtype)
    levels, expected = hardware_levels(context, image), build_pyramid(image, backend="reference").levels
    assert [level.shape for level in levels] == [level.shape for level in expected]
    for index, (level, mean) in enumerate(zip(levels, expected, strict=True)):
        # Bytes are rounded anew on each level, to a side that the driver chooses.
        np.testing.assert_allclose(level.astype(float), mean.astype(float), atol=index if dtype is np.uint8 else 1e-6)


def test_odd_sizes_round_down_and_lose_the_mean(context):
    image = np.array([0, 0, 0, 0, 100], np.float32).reshape(1, 5, 1)
    levels = hardware_levels(context, image)
    assert [level.shape for level in levels] == [(1, 5, 1), (1, 2, 1), (1, 1, 1)]
    assert levels[-1].item() != pytest.approx(20, abs=5)
    assert build_pyramid(image).levels[-1].item() == pytest.approx(20)


def test_bad_images_are_refused(context):
    for image in (np.zeros((4, 4)), np.zeros((4, 4, 5), np.float32), np.zeros((2, 4, 4, 1), np.float32)):
        with pytest.raises(ArrayError):
            HardwareMipmaps(context, image)
    with pytest.raises(CameraError):
        HardwareMipmaps(context, np.zeros((0, 4, 1), np.float32))
