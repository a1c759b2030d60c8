"""Words of colour: against colorsys, pixel by pixel, and what they say nothing about."""

from __future__ import annotations

import colorsys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import tokens
from hra.domains.tokens.relevance.colour_words import _hsv, colour_words

_SHOWN = {
    "red": (0.9, 0.1, 0.1),
    "orange": (0.95, 0.5, 0.05),
    "yellow": (0.95, 0.9, 0.1),
    "green": (0.1, 0.7, 0.2),
    "blue": (0.1, 0.2, 0.9),
    "purple": (0.5, 0.1, 0.8),
    "pink": (0.95, 0.3, 0.7),
    "black": (0.05, 0.05, 0.05),
    "white": (0.97, 0.97, 0.96),
}


def scene(colour: tuple[float, float, float]) -> np.ndarray:
    """A patch of a colour on grey ground, float32 [128, 192, 3]; the patch is row 3, column 8 of the grid."""
    image = np.full((128, 192, 3), 0.5, np.float32)
    image[32:80, 112:160] = colour
    return image


@given(st.lists(st.floats(0, 1, width=32), min_size=3, max_size=3))
def test_hue_saturation_and_value_are_those_of_colorsys(colour):
    expected = colorsys.rgb_to_hsv(*colour)
    hue, saturation, value = (float(part[0, 0]) for part in _hsv(np.array(colour, np.float32).reshape(1, 1, 3)))
    assert value == pytest.approx(expected[2], abs=1e-6)
    if max(colour) - min(colour) > 0.01:
        assert saturation == pytest.approx(expected[1], abs=1e-4)
        assert abs((hue / 360 - expected[0] + 0.5) % 1 - 0.5) < 1e-3


@pytest.mark.parametrize("word", _SHOWN)
def test_a_named_colour_is_found_and_only_where_it_is(word):
    image = scene(_SHOWN[word])
    context = tokens.PyramidSampling().context(image, f"what is the {word} thing?")
    assert context.served.by == "words of colour" and context.served.used
    inside = context.relevance[2:5, 7:10]
    assert inside.min() > 3 * np.delete(context.relevance, slice(2, 5), axis=0).max()
    others = [other for other in _SHOWN if other != word]
    assert sum(colour_words(f"the {other} one", image, 16) is not None for other in others) == 0


@pytest.mark.parametrize("query", ["what is this?", "who is Greenwood?", "", "the blue one"])
def test_no_colour_or_one_that_is_not_there_changes_nothing(query):
    image = scene(_SHOWN["red"])
    assert colour_words(query, image, 16) is None
    plain = tokens.CueRelevance()(tokens.TokenContext.of(image, ""))
    assert np.array_equal(tokens.CueRelevance()(tokens.TokenContext.of(image, query)), plain)


def test_a_colour_that_is_everywhere_tells_nothing_apart():
    assert colour_words("the white page", np.ones((64, 64, 3), np.float32), 16) is None
