"""Relevance pruning by the max pyramid against the maximum over patches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import tokens
from hra.domains.tokens.pyramid.pyramid import PatchPyramid
from hra.domains.tokens.relevance import pruning
from hra.domains.tokens.relevance.pruning import PrunedRelevance, prune, prune_patches, relevance_pyramid
from hra.errors import MetricError
from hra.kernels import rect_max


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


@given(
    st.lists(st.integers(1, 4), max_size=2).map(tuple),
    st.integers(1, 70),
    st.integers(1, 70),
    st.integers(0, 99),
    st.floats(0, 1, width=32),
)
def test_regions_are_pruned_as_their_patches_would_be(batch, rows, columns, seed, threshold):
    generator = np.random.default_rng(seed)
    relevance = generator.random((*batch, rows, columns), dtype=np.float32) ** 4
    relevance[generator.random(relevance.shape) < 0.5] = 0
    found = prune_patches(relevance_pyramid(relevance), threshold)
    np.testing.assert_array_equal(found, relevance >= np.float32(threshold))


def test_pruning_calls_the_look_up_of_occlusion_culling(monkeypatch):
    """One test per region; what it holds is read only where the test says so."""
    tested = []

    def counted(pyramid, rects, *rest, **options):
        tested.append(len(rects))
        return rect_max(pyramid, rects, *rest, **options)

    monkeypatch.setattr(pruning, "rect_max", counted)
    relevance = np.zeros((64, 64, 64))
    relevance[3, 10, 20] = 1
    assert prune_patches(relevance_pyramid(relevance), 0.5).sum() == 1
    assert tested == [64 * 16]


def test_bad_entries_of_a_batch_are_refused():
    relevance = np.zeros((2, 3, 4))
    relevance[1, 2, 3] = np.nan
    with pytest.raises(MetricError, match="nan"):
        relevance_pyramid(relevance)


@given(st.integers(1, 70), st.integers(1, 70), st.sampled_from([0.1, 0.3, 0.999, 2.0]))
def test_what_is_under_the_threshold_counts_as_nothing(rows, columns, threshold):
    scores = np.random.default_rng(rows * 71 + columns).random((rows, columns)).astype(np.float32) - 0.1
    pruned = PrunedRelevance(lambda context: scores, threshold)(
        tokens.TokenContext.of(np.zeros((16 * rows, 16 * columns, 3), np.float32))
    )
    kept = np.maximum(scores.astype(np.float64), 0)
    assert np.array_equal(pruned, np.where(kept >= np.float32(threshold), kept, 0))


def test_it_modifies_any_relevance_of_an_allocator():
    image = np.random.default_rng(0).random((96, 96, 3), np.float32)
    pruned = PrunedRelevance(tokens.CueRelevance(), 0.2)
    context = tokens.GridTopK(pruned).context(image, "top left")
    plain = tokens.CueRelevance()(context)
    assert 0 < (context.relevance > 0).sum() < 36
    assert np.array_equal(context.relevance > 0, plain >= 0.2)


@pytest.mark.parametrize("threshold", [np.nan, np.inf, 0.0, -1.0])
def test_a_threshold_is_a_number(threshold):
    with pytest.raises(MetricError):
        PrunedRelevance(tokens.CueRelevance(), threshold)
