from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.embedding.embeddings import pool_regions
from hra.domains.tokens.embedding.feature_grid import FeatureGrid, Regions
from hra.errors import ArrayError


@pytest.mark.parametrize(
    ("features", "grid", "fix"),
    [
        (np.zeros((576, 8)), None, "grid=(rows, columns) of 576 cells"),  # 24 x 24, or 18 x 32: who knows
        (np.zeros((577, 8)), None, "a class token is none: features[1:]"),
        (np.zeros((1, 576, 8)), (24, 24), "features[0], with grid=(rows, columns) of 576 cells"),
        (np.zeros((4, 576, 8)), (18, 32), "features[0], with grid=(rows, columns) of 576 cells"),
        (np.zeros((2, 24, 24, 8)), None, "features[0]"),
        (np.zeros((570, 8)), (24, 24), "grid=(rows, columns) of 570 cells"),
        (np.full((4, 4, 2), np.nan), None, "finite"),
        (np.zeros((4, 4, 0)), None, ""),
        (np.zeros((4, 4, 2), complex), None, ""),
    ],
)
def test_features_that_are_no_grid_name_the_way_out(features, grid, fix):
    with pytest.raises(ArrayError) as caught:
        FeatureGrid.of(features, grid)
    assert fix in caught.value.fix


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 9), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_random_boxes_on_any_grid_share_areas_exactly(height, width, rows, columns, seed):
    rng = np.random.default_rng(seed)
    low = rng.integers(0, (width, height), (4, 2))
    boxes = np.concatenate([low, rng.integers(low + 1, np.array([width, height]) + 1)], axis=1)
    features = rng.normal(size=(rows, columns, 2)).astype(np.float32)
    fine = features.repeat(height, axis=0).repeat(width, axis=1)  # cell borders on whole steps of 1/rows, 1/columns
    expected = [fine[y0 * rows : y1 * rows, x0 * columns : x1 * columns].mean(axis=(0, 1)) for x0, y0, x1, y1 in boxes]
    found = pool_regions(FeatureGrid.of(features), Regions.of(boxes), 4, (height, width), patch=1000)
    np.testing.assert_allclose(found, expected, atol=1e-4)
