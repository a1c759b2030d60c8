from __future__ import annotations

import numpy as np
import pytest

from hra.domains import tokens
from hra.errors import HraWarning

IMAGE = np.random.default_rng(0).random((70, 90, 3), dtype=np.float32)


def counted(calls: list):
    def relevance(context: tokens.TokenContext) -> np.ndarray:
        calls.append(context.query)
        return np.arange(np.prod(context.grid), dtype=float).reshape(context.grid)

    return relevance


def test_what_is_known_is_not_asked_for_again():
    calls: list[str] = []
    context = tokens.TokenContext.of(IMAGE, "where?", relevance=counted(calls))
    for _ in range(2):
        assert context.relevance.shape == context.grid == (5, 6)
        assert context.node_errors[0].shape == (len(context.pyramid.positions),)
    assert calls == ["where?"]
    assert context.asking("which?").pyramid is context.pyramid


def test_the_cover_is_the_share_that_is_image():
    context = tokens.TokenContext.of(IMAGE)
    assert context.cover == (70 / 80, 90 / 96)
    assert context.image.shape == IMAGE.shape
    assert context.seeing(IMAGE[:32, :32]).grid == (2, 2)


def test_weights_make_errors_those_of_the_image():
    context = tokens.TokenContext.of(IMAGE)
    own, _ = context.node_errors
    coarsest = context.pyramid.levels[-1]
    shown = tokens.PatchTokens.at(context, context.pyramid.positions[-1:]).reconstruct()
    assert own[-1] == pytest.approx(np.mean((np.clip(shown, 0, 1) - IMAGE) ** 2), rel=1e-3)
    assert coarsest.shape[:2] <= (16, 16)


def test_a_map_that_says_nothing_warns():
    context = tokens.TokenContext.of(IMAGE, relevance=lambda context: np.ones(context.grid))
    with pytest.warns(HraWarning, match="decides nothing"):
        assert context.relevance.all()
