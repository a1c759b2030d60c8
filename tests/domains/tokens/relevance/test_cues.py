"""The cues on images whose answer is known, their combination, and the check of foreign scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.context.context import UniformRelevance
from hra.domains.tokens.context.scores import check_relevance
from hra.domains.tokens.relevance.cues import CueRelevance
from hra.domains.tokens.relevance.spatial_words import spatial_words
from hra.errors import HraWarning, MetricError
from tests.helpers.cues_cases import context


def peak(scores: np.ndarray) -> tuple[int, int]:
    y, x = np.unravel_index(int(scores.argmax()), scores.shape)
    return int(y), int(x)


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("what is at the top left?", (0, 0)),
        ("The BOTTOM-right corner", (8, 8)),
        ("the sign in the centre", (4, 4)),
        ("upper right", (0, 8)),
        ("the middle", (4, 4)),
        ("what is in the middle of the bottom left?", (8, 0)),
    ],
)
def test_spatial_words_open_a_window_at_their_place(query, place):
    window = spatial_words(query, 9, 9)
    assert abs(np.subtract(peak(window), place)).max() <= 1
    assert window.max() <= 1 and 0.1 <= window.min() < 0.2


def test_one_word_restricts_one_axis():
    window = spatial_words("on the left", 6, 12)
    assert np.array_equal(window, np.broadcast_to(window[:1], window.shape))
    assert window[0, 1] > 5 * window[0, 11]


@pytest.mark.parametrize("query", ["", "what is the total?", "bright leftovers on a laptop", "日本"])
def test_other_queries_restrict_nothing(query):
    assert (spatial_words(query, 3, 5) == 1).all()


@given(st.integers(1, 50), st.integers(1, 50), st.sampled_from([8, 16]), st.sampled_from(["", "top", "bottom right"]))
def test_relevance_is_positive_everywhere(height, width, patch, query):
    image = np.random.default_rng(height).random((height, width, 3)).astype(np.float32)
    for relevance in (CueRelevance(), UniformRelevance()):
        scores = relevance(context(image, query, patch))
        assert scores.shape == (-(-height // patch), -(-width // patch))
        assert (scores > 0).all() and (scores <= 1).all()


def test_a_constant_image_is_uniformly_relevant():
    scores = CueRelevance()(context(np.full((64, 64, 3), 0.5, np.float32)))
    assert scores == pytest.approx(0.2, abs=1e-3)


@pytest.mark.parametrize("kind", [np.float64, np.int8])
def test_negative_scores_are_shifted_never_cut_and_a_warning_says_so(kind):
    with pytest.warns(HraWarning, match="calibrated"):
        assert check_relevance(np.array([[-3, -1], [0, 2]], kind), (2, 2)).tolist() == [[0.0, 2.0], [3.0, 5.0]]


@pytest.mark.parametrize(
    "scores",
    [
        np.array([[1.0, np.nan]]),
        np.array([[np.inf, 1.0]]),
        np.ones(2),
        np.ones((1, 1, 2)),
        np.ones((0, 2)),
        np.array([["a", "b"]]),
        np.ones((1, 2), complex),
    ],
)
def test_unusable_scores_are_refused(scores):
    with pytest.raises(MetricError):
        check_relevance(scores, (1, 2))
