"""Foveated relevance against the plain formula, patch by patch."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hra.domains import tokens
from hra.errors import ArrayError, MetricError


def test_relevance_falls_with_the_squared_cortical_magnification():
    scores = np.full((5, 8), 0.5)
    scores[1, 6] = 1.0
    image = np.zeros((80, 128, 3), np.float32)
    foveated = tokens.FoveatedRelevance(lambda context: scores, field_of_view=16.0)(tokens.TokenContext.of(image))
    for y in range(5):
        for x in range(8):
            degrees = 16 * math.hypot(x - 6, y - 1) * 16.0 / 128
            assert foveated[y, x] == pytest.approx(scores[y, x] * (0.75 / (degrees + 0.75)) ** 2)


def test_a_spatial_word_moves_the_fixation():
    image = np.full((160, 160, 3), 0.5, np.float32)
    y, x = np.unravel_index(
        int(tokens.FoveatedRelevance()(tokens.TokenContext.of(image, "bottom left")).argmax()), (10, 10)
    )
    assert y >= 7 and x <= 2


@pytest.mark.parametrize("field_of_view", [0.0, -1.0, 180.0, math.nan])
def test_a_field_of_view_is_an_angle(field_of_view):
    with pytest.raises(ArrayError):
        tokens.FoveatedRelevance(field_of_view=field_of_view)


def test_bad_scores_are_refused_before_they_are_weighed():
    with pytest.raises(MetricError):
        tokens.FoveatedRelevance(lambda context: np.full((1, 1), np.nan))(
            tokens.TokenContext.of(np.zeros((9, 9, 3), np.float32))
        )
