"""Features of patches: those of a context, their check, and their projection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from hra import Hull
from hra.domains import tokens
from hra.domains.tokens.channels.texture_array import texture_array
from hra.domains.tokens.embedding.features import check_features, project
from hra.errors import ArrayError, MetricError


def allocator(encoder=None) -> tokens.TokenAllocator:
    return tokens.TokenAllocator(tokens.GridBuilder(), tokens.RelevanceGain(), Hull(spend_all=True), encoder=encoder)


def test_features_are_the_texture_array_by_default():
    image = np.random.default_rng(0).random((40, 70, 3), np.float32)
    features = allocator().context(image, "").features
    assert features.shape == (3, 5, 24) and features.dtype == np.float32
    assert np.array_equal(features, texture_array(image).values)


def test_an_encoder_is_asked_once_for_the_image():
    asked = []

    def encoder(image: np.ndarray) -> np.ndarray:
        asked.append(image)
        return np.arange(3 * 5 * 7).reshape(3, 5, 7)

    context = allocator(encoder).context(np.full((40, 70, 3), 255, np.uint8), "")
    assert np.array_equal(context.features, np.arange(105).reshape(3, 5, 7))
    assert context.features.dtype == np.float32 and context.features is context.features
    assert len(asked) == 1 and asked[0].dtype == np.float32 and (asked[0] == 1).all()


@pytest.mark.parametrize(
    "features",
    [
        np.zeros((3, 4, 7, 1)),
        np.zeros((3, 5)),
        np.zeros((3, 5, 0)),
        np.full((3, 5, 2), np.nan),
        np.full((3, 5, 2), np.inf),
        np.full((3, 5, 2), "a"),
    ],
)
def test_unusable_features_are_refused(features):
    with pytest.raises(MetricError):
        _ = allocator(lambda image: features).context(np.zeros((40, 70, 3), np.float32), "").features


def test_a_bad_feature_is_named():
    features = np.zeros((2, 3, 4))
    features[1, 2, 3] = np.inf
    with pytest.raises(MetricError, match=r"features\[1, 2, 3\]"):
        check_features(features, (2, 3))


def test_features_of_another_grid_are_resampled_by_area():
    halves = np.array([[[0.0], [6.0]]])
    assert check_features(halves, (2, 3))[..., 0].tolist() == [[0, 3, 6], [0, 3, 6]]
    wide = np.random.default_rng(0).random((24, 24, 5))
    assert check_features(wide, (8, 12)).mean(axis=(0, 1)) == pytest.approx(wide.mean(axis=(0, 1)), rel=1e-5)


def test_projection_keeps_scalar_products_on_average():
    one, other = np.random.default_rng(0).standard_normal((2, 300, 64)).astype(np.float32)
    other += one
    before = (one * other).sum(axis=1)
    after = (project(one, 16) * project(other, 16)).sum(axis=1)
    assert after.mean() == pytest.approx(before.mean(), rel=0.1)


def test_short_embeddings_are_padded():
    assert project([1.0, 2.0], 4).tolist() == [1, 2, 0, 0]
    with pytest.raises(ArrayError):
        project(1.0, 4)


class Encoder:
    """Counts its runs; features that a cosine can tell apart."""

    def __init__(self) -> None:
        self.runs = 0

    def encode(self, image: np.ndarray) -> np.ndarray:
        self.runs += 1
        rows, columns = (-(-extent // 16) for extent in image.shape[:2])
        return np.random.default_rng(0).random((rows, columns, 8))


@pytest.mark.parametrize(
    "wrap", [lambda scored: scored, tokens.FoveatedRelevance, lambda r: tokens.PrunedRelevance(r, 1e-9)]
)
def test_an_encoder_of_hierarchy_and_relevance_runs_once_for_an_image(smooth_noise, wrap):
    model = Encoder()
    # Two look-ups of a method are different objects, but one encoder.
    cosine = wrap(tokens.CosineRelevance(model.encode, lambda query: np.ones(8)))
    allocator = tokens.SemanticTree(relevance=cosine, encoder=model.encode)
    context = allocator.context(smooth_noise(160, 200), "")
    for budget in (16, 64):
        allocator.realize(allocator.allocate(context, budget))
    assert model.runs == 1
    allocator.allocate((smooth_noise(160, 200), ""), 16)
    assert model.runs == 2


def test_encoders_need_not_be_hashable():
    @dataclass  # one that can be compared and changed has no hash
    class Unhashable(Encoder):
        runs: int = 0

        def __call__(self, image: np.ndarray) -> np.ndarray:
            return self.encode(image)

    model = Unhashable()
    context = allocator(model).context(np.zeros((32, 32, 3), np.uint8), "")
    assert np.array_equal(context.features, context.encode(model).astype(np.float32)) and model.runs == 1
