"""Block sums, counts and means against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.pyramid.blocks import (
    block_counts,
    block_means,
    block_squares,
    block_sums,
    cell_borders,
    cell_labels,
    cell_means,
)


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


COUNTS = st.tuples(st.integers(1, 20), st.integers(1, 20))


@given(st.integers(1, 200), st.integers(1, 40))
def test_runs_are_nearly_equal(count, cells):
    lengths = np.diff(cell_borders(count, cells))
    assert lengths.sum() == count and lengths.size == min(count, cells)
    assert lengths.max() - lengths.min() <= 1 <= lengths.min()


@given(COUNTS, COUNTS, st.integers(0, 99))
def test_means_are_those_of_the_labels(shape, cells, seed):
    array = np.random.default_rng(seed).random((*shape, 2))
    labels, means = cell_labels(shape, cells), cell_means(array, cells)
    assert np.array_equal(np.unique(labels), np.arange(means.shape[0] * means.shape[1]))
    for label, mean in enumerate(means.reshape(-1, 2)):
        assert mean == pytest.approx(array[labels == label].mean(axis=0))


def test_labels_count_row_by_row():
    assert cell_labels((4, 3), (2, 2)).tolist() == [[0, 1, 1], [0, 1, 1], [2, 3, 3], [2, 3, 3]]
