"""Block sums, counts and means against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.context.blocks import block_counts, block_means, block_squares, block_sums


@given(st.integers(1, 20), st.integers(1, 20), st.integers(1, 7), st.integers(0, 10))
def test_blocks_match_slices(height, width, size, seed):
    array = np.random.default_rng(seed).random((height, width, 2))
    sums, counts, means = block_sums(array, size), block_counts(height, width, size), block_means(array, size)
    assert sums.shape == (-(-height // size), -(-width // size), 2)
    for row in range(sums.shape[0]):
        for column in range(sums.shape[1]):
            block = array[row * size : (row + 1) * size, column * size : (column + 1) * size].reshape(-1, 2)
            assert counts[row, column] == len(block)
            assert sums[row, column] == pytest.approx(block.sum(axis=0))
            assert means[row, column] == pytest.approx(block.mean(axis=0))


def test_means_of_a_map_without_channels():
    assert block_means(np.arange(6.0).reshape(2, 3), 2).tolist() == [[2.0, 3.5]]


@given(st.integers(1, 20), st.integers(1, 20), st.integers(1, 7), st.integers(1, 3))
def test_squares_are_summed_over_blocks_and_channels(height, width, size, channels):
    values = np.random.default_rng(height).normal(size=(height, width, channels)).astype(np.float32)
    expected = block_sums(np.square(values.astype(np.float64)).sum(axis=2), size)
    apart = np.moveaxis(np.ascontiguousarray(np.moveaxis(values, 2, 0)), 0, 2)
    for array in (values, apart):
        assert block_squares(array, size) == pytest.approx(expected, rel=1e-5)
