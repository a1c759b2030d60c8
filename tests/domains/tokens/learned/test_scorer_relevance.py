from __future__ import annotations

import numpy as np
import pytest

from hra.domains import tokens
from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.embedding.features import project
from hra.domains.tokens.learned.scorer import RelevanceScorer
from hra.domains.tokens.learned.scorer_relevance import ScorerRelevance

torch = pytest.importorskip("torch")


@pytest.mark.parametrize(("width", "least", "most"), [(512, 1.0, 1.0), (None, 0.0, 0.2)])
def test_a_patch_with_a_cosine_of_035_is_found_among_1024_at_full_width(width, least, most):
    rng, found = np.random.default_rng(0), 0
    scorer = RelevanceScorer(features=width)
    for _ in range(50):
        features = rng.standard_normal((32, 32, 512)).astype(np.float32)
        query = rng.standard_normal(512).astype(np.float32)
        features /= np.linalg.norm(features, axis=-1, keepdims=True)
        query /= np.linalg.norm(query)
        y, x = rng.integers(0, 32, 2)
        other = features[y, x] - (features[y, x] @ query) * query
        features[y, x] = 0.35 * query + np.sqrt(1 - 0.35**2) * other / np.linalg.norm(other)
        relevance = ScorerRelevance(scorer, lambda image, f=features: f, lambda asked, q=query: q, patch=2)
        scores = relevance(TokenContext.of(np.full((64, 64, 3), 0.5, np.float32), "the cat", patch=2))
        found += np.unravel_index(int(scores.argmax()), scores.shape) == (y, x)
    assert least <= found / 50 <= most


def test_it_serves_as_the_relevance_of_an_allocator():
    image = np.full((128, 128, 3), 0.5, np.float32)
    image[64:96, 32:64:4] = 0.0  # strokes
    relevance = ScorerRelevance(RelevanceScorer())
    context = tokens.PyramidSampling(relevance).context(image, "what does the text say?")
    y, x = np.unravel_index(int(context.relevance.argmax()), context.relevance.shape)
    assert 4 <= y < 6 and 2 <= x < 4


def test_the_coupling_finds_the_patch_that_resembles_a_named_object():
    features = np.random.default_rng(0).standard_normal((4, 4, 512)).astype(np.float32)
    relevance = ScorerRelevance(RelevanceScorer(), lambda image: features, lambda query: features[1, 2])
    scores = relevance(TokenContext.of(np.full((64, 64, 3), 0.5, np.float32), "the cat"))
    assert np.unravel_index(int(scores.argmax()), scores.shape) == (1, 2)
    expected = (project(features, 16) @ project(features[1, 2], 16)).argmax()
    assert int(scores.argmax()) == expected


def test_scores_have_a_gradient_for_training():
    relevance = ScorerRelevance(RelevanceScorer())
    scores = relevance.scores(np.random.default_rng(0).random((40, 50, 3), np.float32), "cat")
    assert scores.shape == (3, 4)
    scores.sum().backward()
    assert relevance.scorer.propositional.weight.grad is not None


def test_a_scorer_of_bfloat16_scores():
    image = np.random.default_rng(0).random((64, 96, 3), dtype=np.float32)
    scores = [
        ScorerRelevance(RelevanceScorer(64, 16).to(dtype))(tokens.GridTopK().context(image, "a"))
        for dtype in (torch.float32, torch.bfloat16, torch.float64)
    ]
    assert all(each.dtype == np.float32 and np.allclose(each, scores[0], atol=0.1) for each in scores)
