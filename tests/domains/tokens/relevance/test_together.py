"""Many images at once: as many calls of encoders as promised, and the scores that single images get."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from hra.domains import tokens
from hra.domains.tokens.relevance.together import prepare_all, runs_in_threads


@pytest.fixture
def images(smooth_noise) -> list[np.ndarray]:
    return [smooth_noise(*size, seed=seed) for seed, size in enumerate([(96, 128), (96, 128), (80, 64), (96, 128)])]


class Counting:
    """An encoder of batches that remembers how many images came together."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    def __call__(self, batch: np.ndarray) -> np.ndarray:
        self.calls.append(len(batch))
        return batch[:, ::16, ::16]


WRAPPERS = {
    "plain": lambda relevance: relevance,
    "calibrated": lambda relevance: tokens.calibrated(relevance, "minmax"),
    "foveated": lambda relevance: tokens.FoveatedRelevance(tokens.calibrated(relevance, "minmax")),
    "pruned": lambda relevance: tokens.PrunedRelevance(tokens.calibrated(relevance, "minmax"), 0.1),
}


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_an_encoder_of_batches_gets_images_of_one_size_together(images, wrap):
    counting = Counting()
    relevance = wrap(tokens.CosineRelevance(tokens.BatchEncoder(counting), lambda query: np.array([0.2, 0.5, 1.0])))
    contexts = [tokens.TokenContext.of(image, "x", relevance=relevance) for image in images]
    prepare_all(relevance, contexts)
    assert sorted(counting.calls) == [1, 3]
    scores = [relevance(context) for context in contexts]
    assert sorted(counting.calls) == [1, 3]
    for image, found in zip(images, scores, strict=True):
        assert np.array_equal(found, relevance(tokens.TokenContext.of(image, "x", relevance=relevance)))


def test_an_image_that_is_known_is_not_encoded_again(images):
    counting = Counting()
    relevance = tokens.CosineRelevance(tokens.BatchEncoder(counting), lambda query: np.ones(3))
    first = tokens.TokenContext.of(images[0], "a", relevance=relevance)
    prepare_all(relevance, [first, first.asking("b"), tokens.TokenContext.of(images[1], "a", relevance=relevance)])
    prepare_all(relevance, [first, first.asking("c")])
    assert counting.calls == [2]


@pytest.mark.parametrize("make", [tokens.PyramidSampling, tokens.FoveatedPyramid, tokens.TokenDAG, tokens.GridTopK])
def test_tokens_of_a_batch_are_those_of_single_images(images, make):
    counting = Counting()
    encoder = tokens.BatchEncoder(counting)
    by_model = tokens.calibrated(tokens.CosineRelevance(encoder, lambda query: np.array([0.2, 0.5, 1.0])), "minmax")
    for relevance in (None, by_model):
        allocator = make(relevance)
        sets = allocator.tokens_batch([(image, "left") for image in images], 17)
        assert len(sets) == len(images)
        for image, found in zip(images, sets, strict=True):
            (alone,) = allocator.tokens_batch([(image, "left")], 17)
            assert np.array_equal(found.values, alone.values) and np.array_equal(found.relevance, alone.relevance)
    assert sorted(counting.calls[:2]) == [1, 3]


def test_tokens_of_no_images_are_none():
    assert tokens.PyramidSampling().tokens_batch([], 17) == []


def test_only_relevances_that_say_so_are_asked_by_several_threads(smooth_noise, monkeypatch):
    from numba import config

    monkeypatch.setattr(config, "NUMBA_NUM_THREADS", 2)
    asked = []

    def own(context):
        asked.append(threading.current_thread())
        return np.arange(np.prod(context.grid)).reshape(context.grid)

    large = [(smooth_noise(64, 64, seed=seed), "") for seed in range(4)]
    tokens.PyramidSampling(own).tokens_batch(large, 4)
    assert set(asked) == {threading.main_thread()} and len(asked) == 4
    cues = tokens.CueRelevance()
    assert runs_in_threads(cues) and runs_in_threads(tokens.calibrated(cues, "rank"))
    assert runs_in_threads(tokens.FoveatedRelevance()) and not runs_in_threads(own)
    assert not runs_in_threads(tokens.FoveatedRelevance(own)) and not runs_in_threads(tokens.calibrated(own, "rank"))
    assert not runs_in_threads(tokens.FoveatedRelevance(fixation=tokens.CentreFixation()))


def test_few_images_are_held_at_once(smooth_noise):
    held, most = set(), 0

    def own(context):
        nonlocal most
        held.add(id(context.pyramid))
        most = max(most, len(held))
        return np.ones(context.grid) + np.arange(context.grid[1])

    class Watching(tokens.PyramidSampling):
        def realize_batch(self, choices):
            sets = super().realize_batch(choices)
            held.clear()
            return sets

    Watching(own).tokens_batch([(smooth_noise(32, 48, seed=seed), "") for seed in range(40)], 3)
    assert most == 16
