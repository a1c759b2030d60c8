"""Cross-attention against the plain formula, and attention maps of other resolutions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.relevance.attention import (
    AttentionMapRelevance,
    CrossAttentionRelevance,
    cross_attention,
    resample_attention,
)
from hra.errors import ArrayError, MetricError


def test_cross_attention_is_the_softmax_of_scaled_scalar_products():
    generator = np.random.default_rng(0)
    patches, text = generator.standard_normal((3, 4, 6)), generator.standard_normal(5)
    queries, keys = generator.standard_normal((5, 2)), generator.standard_normal((6, 2))
    relevance = CrossAttentionRelevance(lambda image: patches, lambda query: text, queries, keys)
    scores = relevance(np.zeros((48, 64, 3), np.float32), "")
    plain = [[np.exp((text @ queries) @ (patches[y, x] @ keys) / np.sqrt(2)) for x in range(4)] for y in range(3)]
    assert scores == pytest.approx(np.array(plain) / np.sum(plain), rel=1e-5)


def test_large_logits_do_not_overflow():
    scores = cross_attention(np.array([[[1.0], [2.0]]]), [1e4], [[1.0]], [[1.0]])
    assert scores.tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("error", "patches", "text", "queries", "keys"),
    [
        (MetricError, np.ones((2, 3)), np.ones(5), np.ones((5, 2)), np.ones((6, 2))),
        (ArrayError, np.ones((2, 3, 6)), np.ones(5), np.ones((4, 2)), np.ones((6, 2))),
        (ArrayError, np.ones((2, 3, 6)), np.ones(5), np.ones((5, 3)), np.ones((6, 2))),
        (ArrayError, np.ones((2, 3, 6)), np.ones(5), np.ones((5, 2)), np.ones((5, 2))),
        (ArrayError, np.ones((2, 3, 6)), np.ones(5), np.ones((5, 2)), np.full((6, 2), np.inf)),
        (ArrayError, np.ones((2, 3, 6)), np.full(5, np.nan), np.ones((5, 2)), np.ones((6, 2))),
        (ArrayError, np.ones((2, 3, 6)), 1.0, np.ones((5, 2)), np.ones((6, 2))),
    ],
)
def test_sizes_that_do_not_fit_are_refused(error, patches, text, queries, keys):
    with pytest.raises(error):
        cross_attention(patches, text, queries, keys)


def test_a_map_of_the_same_grid_is_kept():
    attention = np.random.default_rng(0).random((4, 6))
    assert resample_attention(attention, (64, 96), 16) == pytest.approx(attention)


def test_heads_are_averaged():
    attention = np.random.default_rng(0).random((2, 3, 4, 6))
    relevance = AttentionMapRelevance(lambda image, query: attention)
    assert relevance(np.zeros((64, 96, 3), np.float32), "") == pytest.approx(attention.mean(axis=(0, 1)))


def test_a_ramp_stays_a_ramp_at_a_finer_grid():
    row = resample_attention(np.arange(4.0)[None], (16, 128), 16)[0]
    assert row == pytest.approx([0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3])


def test_a_coarser_grid_averages_what_it_covers():
    row = resample_attention(np.tile([1.0, 0.0, 0.0, 0.0], 8)[None], (16, 128), 16)[0]
    assert row[1:-1] == pytest.approx(0.25)


def test_the_peak_stays_where_it_is_in_an_image_of_odd_size():
    attention = np.zeros((24, 24))
    attention[20, 5] = 1  # at 0.85 of the height and 0.23 of the width
    scores = resample_attention(attention, (333, 257), 16)
    assert np.unravel_index(int(scores.argmax()), scores.shape) == (int(333 * 0.854 / 16), int(257 * 0.229 / 16))


@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 200), st.integers(1, 200))
def test_resampling_keeps_constants_and_range(rows, columns, height, width):
    attention = np.random.default_rng(rows).random((rows, columns))
    scores = resample_attention(attention, (height, width), 16)
    assert scores.shape == (-(-height // 16), -(-width // 16))
    assert attention.min() - 1e-9 <= scores.min() and scores.max() <= attention.max() + 1e-9
    assert resample_attention(np.full((rows, columns), 0.3), (height, width), 16) == pytest.approx(0.3)


@pytest.mark.parametrize("attention", [np.ones(3), np.ones((0, 4)), np.array([["a"]])])
def test_maps_that_are_none_are_refused(attention):
    with pytest.raises(MetricError):
        resample_attention(attention, (64, 64), 16)
