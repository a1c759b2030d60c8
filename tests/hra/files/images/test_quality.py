"""PSNR and SSIM against plain formulas."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from skimage.metrics import structural_similarity

from hra.errors import ImageError
from hra.files.images import psnr, ssim
from hra.files.images.arrays import LUMA


def test_plain_formula():
    first, second = np.random.default_rng(0).random((2, 9, 7, 3), np.float32)
    squares = [(float(a) - float(b)) ** 2 for a, b in zip(first.ravel(), second.ravel(), strict=True)]
    assert psnr(first, second) == pytest.approx(10 * math.log10(1 / (sum(squares) / len(squares))))


def test_known_value_and_equal_images():
    black = np.zeros((2, 2, 3), np.float32)
    assert psnr(black + np.float32(0.1), black) == pytest.approx(20)
    assert psnr(black, black) == math.inf


def test_large_images_are_compared_by_parts():
    rng = np.random.default_rng(0)
    first, second = (rng.random((1301, 1100, 3), np.float32) for _ in range(2))
    error = np.mean((first.astype(np.float64) - second) ** 2)
    assert psnr(first, second) == pytest.approx(-10 * np.log10(error), rel=1e-12)
    assert psnr(first, first) == np.inf


def test_sizes_must_agree():
    with pytest.raises(ImageError):
        psnr(np.zeros((2, 2, 3)), np.zeros((2, 3, 3)))


def test_ssim_is_one_for_equal_images_and_falls():
    coarse = np.random.default_rng(0).random((8, 10, 3), np.float32)
    image = coarse.repeat(5, axis=0).repeat(5, axis=1)
    assert ssim(image, image) == pytest.approx(1)
    blurred = (image + np.roll(image, 1, axis=0) + np.roll(image, 1, axis=1)) / 3
    assert ssim(1 - image, image) < ssim(blurred, image) < 0.99
    assert ssim(image[:1, :2], image[:1, :2]) == pytest.approx(1)
    with pytest.raises(ImageError, match="compared"):
        ssim(image, image[1:])


def test_ssim_of_flat_images_is_its_luminance_term():
    dark, bright = (np.full((20, 20, 3), value, np.float32) for value in (0.2, 0.6))
    c1 = 0.01**2
    expected = (2 * 0.2 * 0.6 + c1) / (0.2**2 + 0.6**2 + c1)
    assert ssim(dark, bright) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("height", [11, 138, 139, 266, 401])
def test_ssim_by_parts_is_that_of_the_whole_image(height):
    rng = np.random.default_rng(height)
    first, second = rng.random((2, height, 70, 3), np.float32)
    grey = [np.minimum(pixels @ LUMA, 1) for pixels in (first, second)]
    whole: Any = structural_similarity(
        *grey, data_range=1.0, gaussian_weights=True, sigma=1.5, use_sample_covariance=False
    )
    assert ssim(first, second) == pytest.approx(float(whole), abs=1e-9)
