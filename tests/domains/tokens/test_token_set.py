"""Token sets: values, boxes, relevance and order."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains import tokens


@pytest.fixture
def token_set(smooth_noise) -> tokens.PatchTokens:
    allocator = tokens.PyramidSampling()
    return allocator.realize(allocator.allocate((smooth_noise(100, 230), "right"), 30))


def test_shapes_and_types(token_set):
    assert token_set.values.shape == (30, 768) and token_set.values.dtype == np.float32
    assert token_set.positions.shape == (30, 3) and token_set.positions.dtype == np.int32
    assert token_set.boxes.shape == (30, 4) and token_set.boxes.dtype == np.int32
    assert token_set.image_size == (100, 230) and len(token_set) == 30


def test_values_are_the_pyramids_patches(smooth_noise, token_set):
    pyramid = tokens.PatchPyramid.build(smooth_noise(100, 230))
    for value, (level, x, y) in zip(token_set.values, token_set.positions, strict=True):
        pixels = pyramid.levels[level][16 * y : 16 * y + 16, 16 * x : 16 * x + 16]
        assert np.array_equal(value.reshape(16, 16, 3)[: pixels.shape[0], : pixels.shape[1]], pixels)


def test_boxes_follow_from_positions(token_set):
    for (level, x, y), box in zip(token_set.positions, token_set.boxes, strict=True):
        side = 16 * 2**level
        assert box.tolist() == [x * side, y * side, min((x + 1) * side, 230), min((y + 1) * side, 100)]


def test_relevance_is_the_mean_over_the_region(smooth_noise, token_set):
    scores = tokens.CueRelevance()(smooth_noise(100, 230), "right")
    for (level, x, y), value in zip(token_set.positions, token_set.relevance, strict=True):
        side = 2**level
        assert value == pytest.approx(scores[y * side : (y + 1) * side, x * side : (x + 1) * side].mean(), rel=1e-5)


def test_order_falls_and_keeps_ties(token_set):
    assert sorted(token_set.order.tolist()) == list(range(30))
    assert (np.diff(token_set.relevance[token_set.order]) <= 0).all()
    even = tokens.PatchTokens(token_set.values, token_set.positions, np.ones(30), token_set.image_size, token_set.patch)
    assert even.order.tolist() == list(range(30))


def test_every_pixel_is_shown_by_its_finest_token(token_set):
    shown = token_set.token_map()
    for y, x in ((0, 0), (99, 229), (50, 17), (13, 200)):
        over = [k for k, (x0, y0, x1, y1) in enumerate(token_set.boxes) if x0 <= x < x1 and y0 <= y < y1]
        assert shown[y, x] == min(over, key=lambda k: token_set.positions[k, 0])
        assert token_set.shown_detail()[y, x] == token_set.detail[shown[y, x]]


def test_what_no_token_covers_is_shown_by_none(smooth_noise):
    allocator = tokens.GridTopK()
    chosen = allocator.realize(allocator.allocate((smooth_noise(64, 80), ""), 3))
    assert (chosen.token_map() >= 0).sum() == 3 * 16 * 16
    assert np.isinf(chosen.shown_detail()).sum() == 64 * 80 - 3 * 16 * 16
