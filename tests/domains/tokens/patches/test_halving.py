"""Halving against a plain loop over 2 x 2 pixels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.patches.halving import halve


@given(st.integers(1, 17), st.integers(1, 17), st.integers(0, 10))
def test_each_cell_is_the_mean_of_its_pixels_with_the_edge_repeated(height, width, seed):
    pixels = np.random.default_rng(seed).random((height, width, 3)).astype(np.float32)
    coarse = halve(pixels)
    assert coarse.shape == (-(-height // 2), -(-width // 2), 3)
    for y in range(coarse.shape[0]):
        for x in range(coarse.shape[1]):
            rows, columns = [2 * y, min(2 * y + 1, height - 1)], [2 * x, min(2 * x + 1, width - 1)]
            assert coarse[y, x] == pytest.approx(pixels[np.ix_(rows, columns)].mean(axis=(0, 1)), abs=1e-6)


def test_a_constant_stays_constant_to_the_bit():
    pixels = np.full((7, 5, 3), 0.3, np.float32)
    assert (halve(pixels) == np.float32(0.3)).all()
