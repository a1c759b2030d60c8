"""Cross-attention against the plain formula, and attention maps of other resolutions."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.relevance.attention import (
    AttentionMapRelevance,
    CrossAttentionRelevance,
    cross_attention,
    mean_attention,
)
from hra.errors import ArrayError, MetricError


def test_cross_attention_is_the_softmax_of_scaled_scalar_products():
    generator = np.random.default_rng(0)
    patches, text = generator.standard_normal((3, 4, 6)), generator.standard_normal(5)
    queries, keys = generator.standard_normal((5, 2)), generator.standard_normal((6, 2))
    relevance = CrossAttentionRelevance(lambda image: patches, lambda query: text, queries, keys)
    scores = relevance(TokenContext.of(np.zeros((48, 64, 3), np.float32)))
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


def test_heads_are_averaged():
    attention = np.random.default_rng(0).random((2, 3, 4, 6))
    relevance = AttentionMapRelevance(lambda image, query: attention)
    context = TokenContext.of(np.zeros((64, 96, 3), np.float32))
    assert relevance(context) == pytest.approx(attention.mean(axis=(0, 1)))


@pytest.mark.parametrize("attention", [np.ones(3), np.ones((0, 4)), np.array([["a"]])])
def test_maps_that_are_none_are_refused(attention):
    with pytest.raises(MetricError):
        mean_attention(attention)
