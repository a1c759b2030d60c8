from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.ndimage import convolve1d

from hra.domains.tokens.channels.gradient import gradient_channels

SIDES = st.integers(3, 20)
BINOMIAL = np.array([1, 4, 6, 4, 1]) / 16


@given(SIDES, SIDES, st.integers(1, 5), st.integers(0, 10**6))
def test_moments_are_those_of_plain_arrays(height: int, width: int, cell: int, seed: int):
    luma = np.random.default_rng(seed).random((height, width), np.float32)
    dy, dx = np.gradient(luma.astype(float))
    blurred = [
        convolve1d(convolve1d(v, BINOMIAL, 0, mode="nearest"), BINOMIAL, 1, mode="nearest")
        for v in (dx * dx, dy * dy, dx * dy)
    ]
    rows, columns = -(-height // cell), -(-width // cell)

    def mean(values: np.ndarray) -> np.ndarray:
        parts = [
            [values[y * cell : (y + 1) * cell, x * cell : (x + 1) * cell].mean() for x in range(columns)]
            for y in range(rows)
        ]
        return np.array(parts)

    found = gradient_channels(luma, cell)
    np.testing.assert_allclose(found["gradient_x"], mean(dx), atol=1e-5)
    np.testing.assert_allclose(found["gradient_y"], mean(dy), atol=1e-5)
    np.testing.assert_allclose(found["edges"], mean(np.hypot(dx, dy)), atol=1e-5)
    xx, yy, xy = map(mean, blurred)
    np.testing.assert_allclose(found["structure_strength"], np.sqrt(xx + yy), atol=1e-5)
    smaller = [np.linalg.eigvalsh([[a, c], [c, b]])[0] for a, b, c in zip(xx.flat, yy.flat, xy.flat, strict=True)]
    np.testing.assert_allclose(found["corners"].ravel() ** 2, np.maximum(smaller, 0), atol=1e-5)


def test_stripes_lie_on_one_line():
    stripes = np.tile(np.array([0, 0, 1, 1], np.float32), (16, 8))
    found = gradient_channels(stripes, 8)
    assert found["structure"][:, 1:-1].min() > 0.99
    assert found["corners"].max() < 1e-3
