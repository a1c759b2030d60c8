"""Maps of any grid, sign and scale: resampled by area, shifted with a warning, refused with the way out."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import tokens
from hra.domains.tokens.context.scores import checked_scores, resample
from hra.errors import HraWarning, MetricError


@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 300), st.integers(1, 300))
def test_resampling_keeps_the_mean_over_the_image(rows, columns, height, width):
    values = np.random.default_rng(rows).random((rows, columns))
    context = tokens.TokenContext.of(np.zeros((height, width, 3), np.float32))
    found = resample(values, context.grid, context.cover)
    assert found.shape == context.grid
    assert values.min() - 1e-9 <= found.min() and found.max() <= values.max() + 1e-9
    if values.shape != context.grid:
        sides = [
            np.diff(np.minimum(np.arange(n + 1) * 16, size))
            for n, size in zip(context.grid, (height, width), strict=True)
        ]
        assert np.average(found, weights=np.outer(*sides)) == pytest.approx(values.mean())


def test_a_map_of_a_vit_lies_where_it_belongs():
    scores = np.zeros((24, 24))
    scores[20, 5] = 1  # at 0.85 of the height and 0.23 of the width
    image = np.zeros((333, 257, 3), np.float32)
    found = tokens.GridTopK(lambda context: scores).context(image, "").relevance
    assert np.unravel_index(int(found.argmax()), found.shape) == (int(333 * 0.854 / 16), int(257 * 0.229 / 16))


def test_one_row_and_a_flat_sequence_with_its_grid_are_maps():
    assert checked_scores([[1.0, 3.0]], (2, 4)).tolist() == [[1, 1, 3, 3]] * 2
    assert checked_scores((np.arange(4), (2, 2)), (2, 2)).tolist() == [[0, 1], [2, 3]]


@pytest.mark.parametrize(
    ("scores", "way_out"),
    [
        (np.ones(576), r"\(rows, columns\)"),
        ((np.ones(577), (24, 24)), "class token"),
        (np.ones((12, 24, 24)), "AttentionMapRelevance"),
        (np.array([["a"]]), "one number per patch"),
        (None, "one number per patch"),
        (np.full((24, 24), np.nan), "finite scores"),
    ],
)
def test_what_is_no_map_is_refused_with_the_way_out(scores, way_out):
    with pytest.raises(MetricError, match=way_out):
        checked_scores(scores, (24, 24))


def test_the_best_of_all_negative_cosines_are_taken():
    """They rise down 32 rows: 273 of 1,024 patches are the last nine rows."""
    cosines = np.broadcast_to(np.linspace(-0.9, -0.1, 32)[:, None], (32, 32))
    image = np.zeros((512, 512, 3), np.float32)
    allocator = tokens.GridTopK(lambda context: cosines)
    with pytest.warns(HraWarning, match="shifted"):
        chosen = allocator.realize(allocator.allocate((image, "a cat"), 273))
    assert chosen.places[:, 2].min() == 23
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        calibrated = tokens.GridTopK(tokens.calibrated(lambda context: cosines, "softmax", temperature=0.1))
        assert calibrated.realize(calibrated.allocate((image, "a cat"), 273)).places[:, 2].min() == 23


@pytest.mark.parametrize("value", [0.0, 0.4, -1.0])
def test_a_map_that_says_nothing_warns(value):
    image = np.random.default_rng(0).random((64, 64, 3), np.float32)
    context = tokens.GridTopK(lambda context: np.full((4, 4), value)).context(image, "")
    with pytest.warns(HraWarning, match="everywhere"):
        assert (context.relevance > 0).any()


def test_uniform_relevance_is_meant():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        context = tokens.GridTopK(tokens.UniformRelevance()).context(np.zeros((64, 64, 3), np.float32), "")
        assert (context.relevance == 1).all()


def test_a_relevance_sees_the_context_and_an_encoder_runs_once_per_image():
    runs = []

    def encoder(image):
        runs.append(image.shape)
        return np.ones((2, 3, 4))

    def relevance(context):
        assert (context.query, context.patch, context.grid) in (("cat", 8, (4, 6)), ("dog", 8, (4, 6)))
        return context.encode(encoder)[..., 0] + np.arange(3)

    context = tokens.GridTopK(relevance, patch=8).context(np.zeros((32, 48, 3), np.float32), "cat")
    assert context.relevance[0].tolist() == [1, 1, 2, 2, 3, 3]
    assert context.asking("dog").relevance.shape == (4, 6)
    assert runs == [(32, 48, 3)]


@pytest.mark.parametrize(("query", "matters"), [("", False), ("what is it?", False), ("what is on the left?", True)])
def test_a_context_knows_whether_its_query_was_used(query, matters):
    image = np.random.default_rng(0).random((64, 64, 3), np.float32)
    assert tokens.PyramidSampling(tokens.CueRelevance()).context(image, query).query_matters is matters
