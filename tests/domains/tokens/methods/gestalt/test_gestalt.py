from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hra.domains.tokens.methods.gestalt.gestalt import ResizedGestalt
from hra.domains.tokens.methods.two_pass import TwoPass
from hra.errors import BudgetTooSmall, MetricError

IMAGE = np.random.default_rng(0).random((128, 128, 3), dtype=np.float32)  # 8 x 8 patches, 4 x 4 cells of 2 x 2


SCORES = np.random.default_rng(1).permutation(16).astype(float)


def two_pass(score: Any = None, **options: Any) -> TwoPass:
    return TwoPass(score, gestalt=ResizedGestalt(4, 4), **options)


def given(scores: Any) -> Any:
    return lambda context, coarse: scores


@pytest.mark.parametrize("cells", [1, 3, 11])
def test_cells_are_refined_in_the_order_of_their_score(cells):
    allocator = two_pass(given(SCORES))
    token_set = allocator.realize(allocator.allocate((IMAGE, ""), 16 + 4 * cells))
    x, y = token_set.saccades.T // 2
    assert set((4 * y + x).tolist()) == set(np.argsort(-SCORES)[:cells].tolist())


def test_the_last_cell_shows_its_most_relevant_patches():
    relevance = np.random.default_rng(2).random((8, 8))
    allocator = two_pass(given(SCORES), relevance=lambda context: relevance)
    x, y = allocator.realize(allocator.allocate((IMAGE, ""), 16 + 2)).saccades.T
    row, column = divmod(int(SCORES.argmax()), 4)
    inside = np.sort(relevance[2 * row : 2 * row + 2, 2 * column : 2 * column + 2].ravel())
    assert np.sort(relevance[y, x]) == pytest.approx(inside[-2:])


def test_equal_scores_still_refine_cell_after_cell():
    allocator = two_pass(given(np.ones(16)))
    token_set = allocator.realize(allocator.allocate((IMAGE, ""), 16 + 8))
    x, y = token_set.saccades.T // 2
    assert set((4 * y + x).tolist()) == {0, 1}


def test_the_score_is_not_asked_for_a_budget_that_is_too_small():
    with pytest.raises(BudgetTooSmall, match="16"):
        two_pass(given(None)).allocate((IMAGE, ""), 15)


def test_the_suggested_share_refines_whole_cells():
    allocator = two_pass(given(SCORES))
    budget = allocator.budget_for_share((IMAGE, ""), 0.25)
    x, y = allocator.realize(allocator.allocate((IMAGE, ""), budget)).saccades.T // 2
    assert np.bincount(4 * y + x, minlength=16).tolist() == [4 * (score >= 12) for score in SCORES]


@pytest.mark.parametrize("scores", [np.ones(15), np.full(16, np.nan), -np.ones(16), np.ones((4, 4))])
def test_bad_scores_are_refused(scores):
    with pytest.raises(MetricError, match="score"):
        two_pass(given(scores)).allocate((IMAGE, ""), 20)
