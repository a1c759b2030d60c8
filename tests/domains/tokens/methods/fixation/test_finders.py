"""Where the fixation finders look, and what foveated relevance makes of it."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.methods.fixation.finders import CentreFixation, PeakFixation, SpatialWordsFixation
from hra.domains.tokens.relevance.foveated import FoveatedRelevance
from hra.domains.tokens.relevance.spatial_words import named_place
from hra.errors import ArrayError

IMAGE = np.zeros((96, 192, 3), np.float32)


def scores() -> np.ndarray:
    relevance = np.zeros((6, 12))
    relevance[1, 10] = 1
    return relevance


def test_the_centre_is_that_of_the_image_whatever_is_relevant():
    assert CentreFixation()(IMAGE, "top left", scores()) == (96, 48)


def test_the_peak_is_the_most_relevant_cell():
    assert PeakFixation()(IMAGE, "", scores()) == (168, 24)


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("what is at the top left?", (32, 16)),
        ("on the right", (160, 48)),
        ("at the bottom", (96, 80)),
        ("in the middle", (96, 48)),
        ("a cat", (96, 48)),
    ],
)
def test_spatial_words_name_a_third_of_each_axis(query, place):
    assert SpatialWordsFixation()(IMAGE, query, scores()) == pytest.approx(place)


def test_a_named_place_leaves_axes_open():
    assert named_place("left") == (None, pytest.approx(1 / 6))
    assert named_place("nothing") == (None, None)


@pytest.mark.parametrize(
    ("finder", "patch"),
    [(CentreFixation(), (3, 6)), (PeakFixation(), (1, 10)), (SpatialWordsFixation(), (5, 10)), (None, (1, 10))],
)
def test_foveated_relevance_weighs_about_the_fixation_it_is_given(finder, patch):
    base = np.ones((6, 12))
    base[1, 10] = 1.01  # hardly more relevant: the peak of the coarse pass, but no weight of its own
    foveated = FoveatedRelevance(lambda context: base, fixation=finder)(TokenContext.of(IMAGE, "bottom right"))
    y, x = np.unravel_index(int((foveated / base).argmax()), foveated.shape)
    assert abs(y - patch[0]) <= 1 and abs(x - patch[1]) <= 1


def test_a_user_finder_sees_image_query_and_checked_relevance():
    seen = []

    def finder(image: np.ndarray, query: str, relevance: np.ndarray) -> tuple[float, float]:
        seen.append((image.shape, query, relevance.min()))
        return 0.0, 0.0

    FoveatedRelevance(lambda context: np.full((6, 12), -1.0), fixation=finder)(TokenContext.of(IMAGE, "q"))
    assert seen == [(IMAGE.shape, "q", 0)]


def test_a_fixation_that_is_no_place_is_refused():
    relevance = FoveatedRelevance(lambda context: scores(), fixation=lambda *_: (np.nan, 0))
    with pytest.raises(ArrayError, match="gaze"):
        relevance(TokenContext.of(IMAGE))
