"""Pruned relevance against a plain threshold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import tokens
from hra.domains.tokens.relevance.pruned import PrunedRelevance
from hra.errors import MetricError


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
    pruned = PrunedRelevance(tokens.CueRelevance(), 0.5)
    context = tokens.GridTopK(pruned).context(image, "top left")
    plain = tokens.CueRelevance()(context)
    assert 0 < (context.relevance > 0).sum() < 36
    assert np.array_equal(context.relevance > 0, plain >= 0.5)


@pytest.mark.parametrize("threshold", [np.nan, np.inf, 0.0, -1.0])
def test_a_threshold_is_a_number(threshold):
    with pytest.raises(MetricError):
        PrunedRelevance(tokens.CueRelevance(), threshold)
