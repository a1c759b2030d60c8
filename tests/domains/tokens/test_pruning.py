"""Relevance pruning by the max pyramid against the maximum over patches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.patches import PatchPyramid
from hra.domains.tokens.pruning import prune, relevance_pyramid
from hra.errors import MetricError


def plain_maximum(relevance: np.ndarray, box: np.ndarray) -> float:
    x0, y0, x1, y1 = box
    return float(relevance[y0 // 16 : -(-y1 // 16), x0 // 16 : -(-x1 // 16)].max())


@given(st.integers(1, 300), st.integers(1, 300), st.integers(0, 20), st.floats(0, 1, width=32))
def test_patches_of_the_pyramid_are_met_exactly(height, width, seed, threshold):
    pyramid = PatchPyramid.build(np.zeros((height, width, 3), np.float32))
    relevance = np.random.default_rng(seed).random(pyramid.grids[0], dtype=np.float32)
    boxes = pyramid.boxes(pyramid.positions)
    expected = [plain_maximum(relevance, box) >= threshold for box in boxes]
    assert prune(relevance_pyramid(relevance), boxes, threshold).tolist() == expected


@given(st.integers(0, 50))
def test_no_relevant_box_is_ever_dropped(seed):
    generator = np.random.default_rng(seed)
    relevance = generator.random((13, 21), dtype=np.float32)
    corners = np.sort(generator.integers(0, 13 * 16, (40, 2, 2)), axis=1)
    boxes = np.concatenate([corners[:, 0], corners[:, 1] + 1], axis=1).astype(np.int32)
    keep = prune(relevance_pyramid(relevance), boxes, 0.9)
    relevant = np.array([plain_maximum(relevance, box) >= 0.9 for box in boxes])
    assert keep[relevant].all()


def test_one_test_drops_a_whole_region():
    relevance = np.zeros((8, 8))
    relevance[0, 0] = 1
    boxes = np.array([[0, 0, 128, 128], [64, 64, 128, 128]], np.int32)
    assert prune(relevance_pyramid(relevance), boxes, 0.5).tolist() == [True, False]
    assert prune(relevance_pyramid(np.zeros((8, 8))), boxes, 0.5).tolist() == [False, False]


@pytest.mark.parametrize("relevance", [np.ones(3), np.array([[np.nan]])])
def test_bad_relevance_is_refused(relevance):
    with pytest.raises(MetricError):
        relevance_pyramid(relevance)
