"""Regions divided into cells: exact, never empty, even."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.methods.regions.region_builders import split_regions


@given(st.integers(1, 20), st.integers(1, 20), st.integers(1, 4), st.integers(0, 20))
def test_every_region_has_exactly_its_cells_and_none_is_empty(height, width, regions, seed):
    generator = np.random.default_rng(seed)
    labels = generator.integers(-1, regions, (height, width)).astype(np.int32)
    areas = np.bincount(labels[labels >= 0], minlength=regions)
    counts = np.array([generator.integers(0, area + 1) for area in areas])
    cells = split_regions(labels, counts)
    first = np.r_[0, np.cumsum(counts)]
    for region in range(regions):
        expected = set(range(first[region], first[region + 1])) or {-1}
        if areas[region]:
            assert set(cells[labels == region].tolist()) == expected
    assert (cells[labels < 0] == -1).all()
    sizes = np.bincount(cells[cells >= 0], minlength=first[-1])
    for region in range(regions):
        own = sizes[first[region] : first[region + 1]]
        assert own.size == 0 or own.max() - own.min() <= 2


def test_a_rectangle_becomes_a_grid():
    cells = split_regions(np.zeros((24, 36), np.int32), np.array([6]))
    blocks = cells.reshape(2, 12, 3, 12)
    assert (blocks == blocks[:, :1, :, :1]).all()
    assert blocks[:, 0, :, 0].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_count_that_fills_no_grid_shares_the_rows():
    cells = split_regions(np.zeros((30, 30), np.int32), np.array([7]))
    # sqrt(7) rows are 3, with 2, 2 and 3 cells, each as high as its cells take.
    assert [np.unique(row).tolist() for row in (cells[0], cells[12], cells[29])] == [[0, 1], [2, 3], [4, 5, 6]]


def test_a_wide_strip_is_divided_along_its_length():
    assert split_regions(np.zeros((1, 8), np.int32), np.array([4])).tolist() == [[0, 0, 1, 1, 2, 2, 3, 3]]
    assert split_regions(np.zeros((8, 1), np.int32), np.array([2])).ravel().tolist() == [0] * 4 + [1] * 4
