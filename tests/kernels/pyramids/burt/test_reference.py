from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.ndimage import convolve1d

from hra.kernels.pyramids.burt import numba_backend, reference

SIDES = st.integers(1, 12)
BINOMIAL = np.array([1, 4, 6, 4, 1]) / 16


@given(SIDES, SIDES, st.integers(0, 10**6))
def test_reduction_is_a_blur_of_which_every_second_pixel_is_kept(height: int, width: int, seed: int):
    image = np.random.default_rng(seed).random((1, height, width, 2), np.float32)
    blurred = image.astype(float)
    for axis in (1, 2):
        blurred = convolve1d(blurred, BINOMIAL, axis, mode="mirror") if image.shape[axis] > 2 else folded(blurred, axis)
    for backend in (reference, numba_backend):
        target = np.empty((1, -(-height // 2), -(-width // 2), 2), np.float32)
        backend.reduce_level(image, target)
        np.testing.assert_allclose(target, blurred[:, ::2, ::2], atol=1e-6)


def folded(values: np.ndarray, axis: int) -> np.ndarray:
    """A blur along one or two pixels, which the border repeats: 1, or 10/16 and 6/16, or 1/2 each."""
    if values.shape[axis] == 1:
        return values
    first, second = np.split(values, 2, axis)
    return np.concatenate([(first + second) / 2] * 2, axis)


@pytest.mark.parametrize("size", [(1, 1), (5, 8), (6, 7)])
def test_expansion_keeps_what_is_the_same_all_over(size: tuple[int, int]):
    fine = np.zeros((1, *size, 1), np.float32)
    reference.add_expanded(np.full((1, -(-size[0] // 2), -(-size[1] // 2), 1), 3.0), fine, -1.0)
    rows, columns = (slice(2, -2) if side > 4 else slice(None) for side in size)  # without what the border mirrors
    np.testing.assert_allclose(fine[:, rows, columns], -3, atol=1e-6)
