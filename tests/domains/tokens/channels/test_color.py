from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.channels.color import color_channels, no_cells

SIDES = st.integers(1, 9)


@given(SIDES, SIDES, st.integers(1, 4), st.integers(0, 10**6))
def test_channels_are_sums_over_the_pixels_of_each_cell(height: int, width: int, cell: int, seed: int):
    image = np.random.default_rng(seed).random((height, width, 3), np.float32)
    found = color_channels(image, cell)
    for y in range(-(-height // cell)):
        for x in range(-(-width // cell)):
            red, green, blue = image[y * cell : (y + 1) * cell, x * cell : (x + 1) * cell].mean(axis=(0, 1))
            np.testing.assert_allclose(found["red_green"][y, x], red - green, atol=1e-6)
            np.testing.assert_allclose(found["blue_yellow"][y, x], blue - (red + green) / 2, atol=1e-6)
            luma = 0.299 * red + 0.587 * green + 0.114 * blue  # ITU-R BT.601
            np.testing.assert_allclose(found["luminance"][y, x], luma, atol=1e-5)
    assert no_cells((height, width), cell).shape == found["luminance"].shape
