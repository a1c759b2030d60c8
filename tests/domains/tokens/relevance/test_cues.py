"""The cues on images whose answer is known, their combination, and the check of foreign scores."""

from __future__ import annotations

import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.ndimage import maximum_filter, uniform_filter

from hra.domains import tokens
from hra.domains.tokens.channels.saliency import border_contrast, saliency
from hra.domains.tokens.channels.text_likeness import text_likeness
from hra.domains.tokens.context.context import TokenContext, UniformRelevance
from hra.domains.tokens.context.scores import check_relevance
from hra.domains.tokens.pyramid.blocks import block_means
from hra.domains.tokens.relevance.cues import CueRelevance, _largest, _means
from hra.domains.tokens.relevance.spatial_words import spatial_words
from hra.errors import HraWarning, MetricError


def grey(values: np.ndarray) -> np.ndarray:
    return np.repeat(values[..., None], 3, axis=2).astype(np.float32)


def peak(scores: np.ndarray) -> tuple[int, int]:
    y, x = np.unravel_index(int(scores.argmax()), scores.shape)
    return int(y), int(x)


@pytest.mark.parametrize("bright", [0.9, 0.0])
def test_a_blob_is_salient_on_even_ground(bright):
    image = np.full((320, 480), 0.4)
    image[96:112, 320:336] = bright
    scores = saliency(grey(image))
    assert peak(scores) == (6, 20)
    assert scores[19, 0] < 0.05 * scores[6, 20]


def test_a_colour_of_its_own_is_salient_at_equal_brightness():
    image = np.full((160, 160, 3), (0.5, 0.2, 0.2), np.float32)
    image[64:80, 64:80] = (0.2, 0.5, 0.2)
    assert peak(saliency(image)) == (4, 4)


def test_nothing_is_salient_in_a_constant_image():
    assert saliency(np.full((70, 50, 3), 0.7, np.float32)) == pytest.approx(0, abs=1e-6)


def test_strokes_are_text_like_and_ramps_edges_and_faint_noise_are_not():
    image = np.full((64, 64 * 4), 0.9)
    image[:, 0:64:6] = image[:, 1:64:6] = 0.1  # strokes two pixels wide
    image[:, 64:128] = np.linspace(0, 1, 64)  # a ramp
    image[:, 160:192] = 0.1  # a dark block: one falling and one rising edge, in different patches
    image[:, 192:256] += np.random.default_rng(0).uniform(-0.02, 0.02, (64, 64))  # paper grain
    scores = text_likeness(grey(image))
    assert scores[:, :4].min() > 0.09
    assert (scores[:, 4:] == 0).all()


def test_text_likeness_is_the_smaller_of_both_gradient_sums():
    row = np.zeros((1, 16))
    row[0, 4:8], row[0, 10:] = 0.5, 1.0  # up 0.5, down 0.5, up 1.0
    assert text_likeness(grey(row)).tolist() == [[pytest.approx(0.5 / 16)]]


def context(image: np.ndarray, query: str = "", patch: int = 16) -> TokenContext:
    return TokenContext.of(image, query, patch=patch)


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


def test_cues_of_a_page_add_up_as_documented():
    image = np.ones((100, 130, 3), np.float32)
    image[:40, :40] = np.random.default_rng(0).random((40, 40, 3))
    salient, text = saliency(image), text_likeness(image)
    expected = spatial_words("left", 7, 9) * (0.2 + 0.4 * salient / salient.max() + 0.4 * text / text.max())
    assert CueRelevance()(context(image, "left")) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("query", ["", "left"])
def test_cues_of_a_photo_multiply_as_documented(query):
    image = np.random.default_rng(0).random((100, 130, 3)).astype(np.float32)
    contrast = border_contrast(block_means(image, 16))
    # The subject of a photo stands in its middle, but for what a question looks for elsewhere.
    bell = 1.0 if query else np.outer(*(np.exp(-8 * _from_middle(n) ** 2) for n in (7, 9)))
    expected = spatial_words(query, 7, 9) * (0.2 + bell) * (0.2 + contrast / contrast.max()) / 1.44
    assert CueRelevance()(context(image, query)) == pytest.approx(expected, rel=1e-5)


def _from_middle(count: int) -> np.ndarray:
    return (np.arange(count) + 0.5) / count - 0.5


def test_border_contrast_is_the_distance_from_the_colours_of_the_border():
    """Against a loop over patches; a subject of another colour stands out, whatever the border's two halves are."""
    means = np.full((9, 12, 3), (0.1, 0.6, 0.2))
    means[:, 6:], means[3:6, 4:8] = (0.2, 0.2, 0.8), (0.9, 0.1, 0.1)
    border = [means[y, x] for y, x in np.ndindex(9, 12) if y in (0, 8) or x in (0, 11)]
    distance = [[np.percentile([np.linalg.norm(one - other) for other in border], 15) for one in row] for row in means]
    found = border_contrast(means)
    assert np.array_equal(np.array(distance) > 0.3, np.pad(np.ones((3, 4), bool), ((3, 3), (4, 4))))
    assert found[4, 5:7].min() > 0.5 * np.max(distance) and found[0].max() < 0.02 and found.shape == (9, 12)


def test_a_page_is_told_by_its_paper_and_a_photo_has_none():
    page = np.ones((256, 256, 3), np.float32)
    page[100:116, 20:200:6] = page[100:116, 21:200:6] = 0
    relevance = CueRelevance()(context(page))
    assert relevance[0, 0] == pytest.approx(relevance[0, 8], abs=1e-3), "no bell over a page"
    photo = np.random.default_rng(0).random((256, 256, 3)).astype(np.float32)
    relevance = CueRelevance()(context(photo))
    assert relevance[8, 8] > 2 * relevance[0, 0]


def test_a_page_in_uneven_light_is_told_from_a_photo():
    page = np.ones((256, 256, 3), np.float32)
    page[100:116, 20:200:6] = page[100:116, 21:200:6] = 0
    relevance = CueRelevance()(context(page * np.linspace(1, 0.5, 256, dtype=np.float32)[:, None, None]))
    assert relevance[0, 0] == pytest.approx(relevance[0, 8], abs=1e-3), "no bell over a page"


def test_what_a_page_is_does_not_depend_on_the_levels_that_a_preset_has():
    """Half of it is paper in uneven light, half a photo: both parts of the relevance count."""
    image = np.random.default_rng(0).random((520, 700, 3)).astype(np.float32)
    image[:, :350] = np.linspace(1, 0.4, 520)[:, None, None]
    of_one, of_many = (CueRelevance()(tokens.preset(name).context(image, "")) for name in ("grid", "pyramid"))
    assert np.array_equal(of_one, of_many)


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


def test_no_further_package_is_needed(monkeypatch: pytest.MonkeyPatch):
    for name in ("scipy", "scipy.ndimage"):
        monkeypatch.setitem(sys.modules, name, None)
    assert CueRelevance()(context(np.random.default_rng(0).random((64, 96, 3), dtype=np.float32))).min() > 0


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 30))
def test_what_is_brightest_around_is_that_of_ndimage(height: int, width: int, side: int):
    values = np.random.default_rng(height).random((height, width)).astype(np.float32)
    sides = min(side, 2 * height), min(side, 2 * width)
    largest = maximum_filter(values, side)
    assert np.array_equal(_largest(values, side), largest)
    means = uniform_filter(largest, sides)  # pyright: ignore[reportArgumentType]: one for each axis
    assert np.allclose(_means(largest, side), means, atol=1e-6)


def test_what_is_around_takes_no_more_of_a_strip_than_the_strip():
    image = np.random.default_rng(0).random((17, 40_000, 3)).astype(np.float32)
    tracemalloc.start()
    try:
        CueRelevance()(context(image))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 20 * image.nbytes
