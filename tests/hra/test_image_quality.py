"""PSNR against the plain formula."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hra.errors import ImageError
from hra.image_quality import psnr


def test_plain_formula():
    first, second = np.random.default_rng(0).random((2, 9, 7, 3), np.float32)
    squares = [(float(a) - float(b)) ** 2 for a, b in zip(first.ravel(), second.ravel(), strict=True)]
    assert psnr(first, second) == pytest.approx(10 * math.log10(1 / (sum(squares) / len(squares))))


def test_known_value_and_equal_images():
    black = np.zeros((2, 2, 3), np.float32)
    assert psnr(black + np.float32(0.1), black) == pytest.approx(20)
    assert psnr(black, black) == math.inf


def test_sizes_must_agree():
    with pytest.raises(ImageError):
        psnr(np.zeros((2, 2, 3)), np.zeros((2, 3, 3)))
