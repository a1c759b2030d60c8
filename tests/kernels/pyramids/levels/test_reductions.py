"""The sRGB curve, and means of sRGB images in linear light."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.kernels import build_pyramid
from hra.kernels.pyramids.levels.reductions import BINS_PER_STEP, byte_tables, to_linear, to_srgb

BACKENDS = ["reference", "numba", "warp"]


def plain_light(encoded: float) -> float:
    """The formula of the standard for one number from 0 to 1."""
    return encoded / 12.92 if encoded <= 0.04045 else ((encoded + 0.055) / 1.055) ** 2.4


def plain_code(light: float) -> float:
    return light * 12.92 if light <= 0.04045 / 12.92 else 1.055 * light ** (1 / 2.4) - 0.055


@given(st.floats(0, 1))
def test_the_curve_is_that_of_the_standard(value):
    assert to_linear(np.array([value]))[0] == pytest.approx(plain_light(value), abs=1e-15)
    assert to_srgb(np.array([value]))[0] == pytest.approx(plain_code(value), abs=1e-15)


@given(st.floats(-100, 100))
def test_the_curves_are_inverse_and_odd(value):
    array = np.array([value])
    assert to_srgb(to_linear(array))[0] == pytest.approx(value, rel=1e-9, abs=1e-12)
    assert to_linear(-array)[0] == -to_linear(array)[0]


def test_the_tables_round_to_the_nearest_byte():
    linear, thresholds, first = byte_tables()
    light = np.linspace(0, 255, 100_001, dtype=np.float32)
    byte = first[(light * BINS_PER_STEP).astype(int)]
    byte = byte + (light >= thresholds[byte.astype(int) + 1])
    exact = 255 * to_srgb(light.astype(np.float64) / 255)
    assert np.abs(byte - exact).max() <= 0.5 + 1e-4
    assert np.abs(255 * to_srgb(linear.astype(np.float64) / 255) - np.arange(256)).max() < 1e-4


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float16])
def test_black_and_white_make_the_grey_that_looks_half_as_bright(backend, dtype):
    white = 255 if dtype is np.uint8 else 1
    image = np.zeros((2, 2, 1), dtype)
    image[0] = white
    found = build_pyramid(image, "srgb_mean", backend=backend).levels[1].item()
    assert found == pytest.approx(188 if dtype is np.uint8 else 0.735358, abs=1e-3)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("channels", "alpha"), [(1, False), (2, True), (3, False), (4, True), (5, False)])
def test_the_last_of_two_or_four_channels_is_linear(backend, channels, alpha, make_image):
    image = make_image((9, 6, channels), np.float32) / 2 + 0.5
    found, linear = (build_pyramid(image, reduce, backend=backend) for reduce in ("srgb_mean", "mean"))
    equal = np.allclose(found.levels[1][..., -1], linear.levels[1][..., -1], rtol=0, atol=1e-6)
    assert equal == alpha
    assert not np.allclose(found.levels[1][..., :1], linear.levels[1][..., :1], atol=1e-3) or channels == 1 == alpha


@pytest.mark.parametrize("backend", BACKENDS)
def test_light_is_kept(size, backend, make_image):
    image = np.abs(make_image((*size, 3), np.float32))
    light = to_linear(image.astype(np.float64)).mean()
    for level in build_pyramid(image, "srgb_mean", backend=backend).levels:
        assert to_linear(level.astype(np.float64)).mean() == pytest.approx(light, rel=3e-6)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("shape", [(64, 64, 4), (37, 50, 3), (2, 31, 33, 1)])
def test_bytes_are_rounded_to_nearest(shape, backend, make_image):
    levels = build_pyramid(make_image(shape, np.uint8), "srgb_mean", backend=backend).levels
    for finer, level in pairwise(levels):
        light = np.vectorize(plain_light)(finer / 255).astype(np.float32)
        exact = build_pyramid(light, "mean", levels=2, backend="reference").levels[1].astype(np.float64)
        colors = 3 if shape[-1] == 4 else shape[-1]
        code = 255 * np.vectorize(plain_code)(exact)[..., :colors]
        assert np.abs(level[..., :colors] - code).max() <= 0.5 + 1e-3
        if shape[-1] == 4:
            alpha = build_pyramid(finer[..., 3:], "mean", levels=2, backend="reference").levels[1]
            np.testing.assert_array_equal(level[..., 3:], alpha)
