"""Cosine relevance against the plain formula."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains import tokens
from hra.domains.tokens.relevance.cosine import CosineRelevance, cosine_similarity
from hra.errors import ArrayError, MetricError


def test_the_cosine_is_that_of_the_definition():
    generator = np.random.default_rng(0)
    patches, text = generator.standard_normal((4, 5, 8)), generator.standard_normal(8)
    scores = cosine_similarity(patches, text)
    for y in range(4):
        for x in range(5):
            expected = patches[y, x] @ text / np.sqrt((patches[y, x] ** 2).sum() * (text**2).sum())
            assert scores[y, x] == pytest.approx(expected, abs=1e-6)


def test_length_does_not_matter_and_zero_vectors_are_not_relevant():
    patches = np.array([[[3.0, 0.0], [0.0, 0.0], [-1.0, 0.0]]])
    assert cosine_similarity(patches, [10.0, 0.0]).tolist() == [[1, 0, -1]]
    assert (cosine_similarity(patches, [0.0, 0.0]) == 0).all()


def test_embeddings_lead_the_allocation_to_the_patch_that_resembles_the_query():
    patches = np.random.default_rng(0).standard_normal((4, 4, 32))
    relevance = CosineRelevance(lambda image: patches, lambda query: patches[2, 1])
    allocator = tokens.GridTopK(tokens.calibrated(relevance, "minmax"))
    chosen = allocator.realize(allocator.allocate((np.zeros((64, 64, 3), np.float32), "that one"), 1))
    assert chosen.places.tolist() == [[0, 1, 2]]


@pytest.mark.parametrize(
    ("error", "patches", "text"),
    [
        (MetricError, np.zeros((2, 3)), np.ones(3)),
        (MetricError, np.full((2, 3, 4), np.nan), np.ones(4)),
        (ArrayError, np.ones((2, 3, 4)), np.ones(5)),
        (ArrayError, np.ones((2, 3, 4)), np.full(4, np.nan)),
    ],
)
def test_embeddings_that_do_not_fit_are_refused(error, patches, text):
    with pytest.raises(error):
        cosine_similarity(patches, text)
