"""Pyramid top-K: scores of all levels side by side, and fixed splits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hra.domains import tokens
from hra.domains.tokens.methods.pyramid_top_k import PyramidTopK
from hra.errors import ArrayError


def per_level(allocator: PyramidTopK, image: np.ndarray, budget: int) -> list[int]:
    levels = allocator.realize(allocator.allocate((image, ""), budget)).places[:, 0]
    return np.bincount(levels, minlength=4).tolist()


@pytest.fixture
def scores() -> np.ndarray:
    return np.random.default_rng(4).random((64, 64))


def test_the_best_scores_of_all_levels_are_taken(scores):
    allocator = PyramidTopK(lambda context: scores, level_weight=1.5)
    token_set = allocator.realize(allocator.allocate((np.zeros((1024, 1024, 3)), ""), 273))
    every = []
    for level in range(4):
        side = 2**level
        means = scores.reshape(64 // side, side, 64 // side, side).mean(axis=(1, 3))
        every.append(1.5**level * means.ravel())
    assert sum(map(len, every)) == 5440
    taken = token_set.relevance * 1.5 ** token_set.places[:, 0]
    assert np.sort(taken) == pytest.approx(np.sort(np.concatenate(every))[-273:])


def test_without_a_weight_fine_patches_win(scores):
    image = np.zeros((1024, 1024, 3))
    even = PyramidTopK(lambda context: scores, level_weight=1.0)
    assert per_level(even, image, 273) == [273, 0, 0, 0]


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (273, [64, 128, 64, 17]),
        (546, [128, 256, 128, 34]),
        (137, [32, 64, 32, 9]),
        (10, [2, 5, 2, 1]),
        (4095, [2751, 1024, 256, 64]),
        (5440, [4096, 0, 0, 0]),  # the whole image, and no more
    ],
)
def test_a_fixed_split_is_scaled_by_largest_remainder(scores, budget, expected):
    allocator = PyramidTopK(lambda context: scores, level_split=(64, 128, 64, 17))
    assert per_level(allocator, np.zeros((1024, 1024, 3)), budget) == expected


def test_a_split_takes_the_best_of_each_level(scores):
    allocator = PyramidTopK(lambda context: scores, level_split=(1, 1))
    token_set = allocator.realize(allocator.allocate((np.zeros((1024, 1024, 3)), ""), 20))
    fine = token_set.relevance[token_set.places[:, 0] == 0]
    assert np.sort(fine) == pytest.approx(np.sort(scores.ravel())[-10:])


def test_levels_that_an_image_lacks_give_their_share_to_the_others():
    image = np.random.default_rng(0).random((32, 32, 3))  # 4 + 1 patches in 2 levels
    assert per_level(PyramidTopK(level_split=(64, 128, 64, 17)), image, 3) == [2, 1, 0, 0]


def test_a_patch_and_its_child_may_both_be_taken_so_nothing_is_certified(smooth_noise):
    allocator = PyramidTopK(level_weight=1.3)
    allocation = allocator.allocate((smooth_noise(256, 256), ""), 60)
    token_set = allocator.realize(allocation)
    places = {tuple(place) for place in token_set.places.tolist()}
    assert any((level + 1, x // 2, y // 2) in places for level, x, y in places)
    assert allocation.status == "heuristic"
    assert tokens.overlay(smooth_noise(256, 256), token_set).shape == (256, 256, 3)


@pytest.mark.parametrize(
    "options",
    [
        {"level_weight": 0.0},
        {"level_weight": float("nan")},
        {"level_split": (0, 0)},
        {"level_split": (1, -1)},
        {"level_split": (1, float("inf"))},
        {"level_split": ()},
    ],
)
def test_bad_weights_are_refused(options: dict[str, Any]):
    with pytest.raises(ArrayError):
        PyramidTopK(**options)


def contrast(context: tokens.TokenContext) -> np.ndarray:
    """Variance of every patch of 16 pixels: what can be seen in it."""
    image = context.image
    rows, columns = image.shape[0] // 16, image.shape[1] // 16
    return image.reshape(rows, 16, columns, 16, 3).var(axis=(1, 3, 4))


def test_a_coarse_patch_is_scored_by_its_own_content():
    """Stripes of one pixel are nothing but grey at any coarser level; a large disc is there at all of them."""
    image = np.full((128, 256, 3), 0.5, np.float32)
    image[:, :128] = (np.arange(128) % 2)[None, :, None]
    y, x = np.indices((128, 128))
    image[:, 128:][np.hypot(y - 64, x - 64) < 40] = 1
    own, below = (PyramidTopK(contrast, levels=3, level_weight=1.0, score=score) for score in ("own", "below"))
    context = own.context(image, "")
    level, x, _ = context.pyramid.positions.T
    stripes = (level > 0) & (x * (16 << level) < 128)
    assert own.builder.build(context).attribute("score")[stripes].max() < 1e-9
    assert below.builder.build(context).attribute("score")[stripes].min() > 0.2
    disc = (level > 0) & ~stripes
    assert own.builder.build(context).attribute("score")[disc].max() > 0.05


def test_a_split_may_follow_from_the_context(smooth_noise):
    asked = []

    def split(context):
        asked.append(context.query)
        return [0, 0, 1, 3]

    allocator = PyramidTopK(level_split=split)
    image = smooth_noise(512, 512)
    chosen = allocator.realize(allocator.allocate((image, "why?"), 64))
    assert np.bincount(chosen.levels, minlength=4).tolist() == [0, 0, 48, 16] and set(asked) == {"why?"}
    with pytest.raises(ArrayError, match="expected 4"):
        PyramidTopK(level_split=lambda context: [1, 1]).allocate((image, ""), 64)
    with pytest.raises(ArrayError, match="score 'mean' is unknown"):
        PyramidTopK(score="mean")  # pyright: ignore[reportArgumentType]
