"""Confidence: entropy against its definition, and what a callable may return."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import tokens
from hra.domains.tokens.methods.confidence import EntropyConfidence, attention_entropy, is_confident, normalised_entropy
from hra.errors import MetricError


@given(st.lists(st.integers(0, 50), min_size=2, max_size=20).filter(any))
def test_entropy_is_shannons(weights):
    shares = [weight / sum(weights) for weight in weights if weight]
    expected = -sum(share * math.log2(share) for share in shares) / math.log2(len(weights))
    assert normalised_entropy(np.array(weights, float)) == pytest.approx(expected, abs=1e-12)


def test_extremes():
    assert normalised_entropy(np.ones((4, 4))) == pytest.approx(1)
    assert normalised_entropy(np.zeros(5)) == 1
    assert normalised_entropy(np.ones(1)) == 0
    assert normalised_entropy(np.eye(1, 9)) == 0


def confidence_of(scores: np.ndarray) -> float:
    allocator = tokens.GridTopK(lambda context: scores)
    context = allocator.context(np.zeros((16 * scores.shape[0], 16 * scores.shape[1], 3)), "")
    return EntropyConfidence()(context, allocator.realize(allocator.allocate(context, 1)))


def test_a_single_target_is_certain_and_an_even_image_is_not():
    single, pair = np.zeros((32, 32)), np.zeros((32, 32))
    single[4:6, 8:10] = pair[4:6, 8:10] = pair[20:22, 0:2] = 1
    assert confidence_of(single) == 1
    assert confidence_of(pair) == pytest.approx(1 - 1 / 8)  # log 2 / log 256
    assert confidence_of(np.ones((32, 32))) == pytest.approx(0)


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan])
def test_a_confidence_is_a_number_from_0_to_1(value):
    allocator = tokens.GridTopK()
    context = allocator.context(np.zeros((16, 16, 3)), "")
    seen = allocator.realize(allocator.allocate(context, 1))
    assert is_confident(lambda context, seen: 0.5, context, seen, 0.5)
    with pytest.raises(MetricError, match="confidence"):
        is_confident(lambda context, seen: value, context, seen, 0.5)


def test_attention_that_comes_from_everywhere_is_undecided():
    attention = np.array([[1.0, 1.0, 0.0, 3.0], [1.0, 0.0, 0.0, 1.0]])
    expected = [1, 0, 0, -(0.75 * np.log2(0.75) + 0.25 * np.log2(0.25))]
    assert attention_entropy(attention) == pytest.approx(expected)
    for bad in (np.ones(3), -np.ones((2, 2)), np.full((2, 2), np.nan)):
        with pytest.raises(MetricError):
            attention_entropy(bad)
