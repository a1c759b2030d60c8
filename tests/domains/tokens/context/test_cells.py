"""Cells: every entry is in one, sizes differ by at most one, means are those of the labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.context.cells import cell_borders, cell_labels, cell_means

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
