"""Where the fixation finders look, and what foveated relevance makes of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.relevance.fixation import CentreFixation, PeakFixation, SpatialWordsFixation, coarse_peak
from hra.domains.tokens.relevance.foveated import FoveatedRelevance
from hra.domains.tokens.relevance.spatial_words import named_place
from hra.errors import ArrayError, MetricError

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


def test_the_peak_is_the_centre_of_its_coarse_cell():
    relevance = np.zeros((64, 64))
    relevance[21, 42] = 1  # coarse cell (5, 10) of 4 x 4 patches
    assert coarse_peak(relevance) == ((42) * 16.0, 22 * 16.0)


def test_a_broad_region_beats_a_single_patch():
    relevance = np.zeros((64, 64))
    relevance[0, 0] = 1
    relevance[60:, 60:] = 0.5
    assert coarse_peak(relevance) == (62 * 16.0, 62 * 16.0)


def test_few_patches_are_their_own_cells():
    relevance = np.array([[0.1, 0.2, 0.9]])
    assert coarse_peak(relevance, patch=8) == (20.0, 4.0)


def test_equal_cells_give_the_first():
    assert coarse_peak(np.ones((32, 32))) == (16.0, 16.0)


def test_uneven_cells_are_compared_by_their_mean():
    relevance = np.ones((17, 17))  # 16 cells for 17 patches: one row and one column of cells is larger
    relevance[0, 0] = 1.1
    assert coarse_peak(relevance) == (8.0, 8.0)


@pytest.mark.parametrize("side", [0, -16, float("nan"), 1.5, "16"])
def test_a_side_that_is_no_whole_number_above_0_is_refused(side):
    with pytest.raises(MetricError, match="patch"):
        PeakFixation(side)(IMAGE, "", scores())


def test_whole_numbers_of_any_type_are_sides():
    side: Any = np.int64(8)
    assert PeakFixation(side)(IMAGE, "", scores()) == coarse_peak(scores(), 8)
