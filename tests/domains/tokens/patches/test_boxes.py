"""Trees of boxes in time and space, and of a small copy above patches: against sums, pictures and a search by hand."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hra
from hra.domains import tokens
from hra.domains.tokens.patches.boxes import BoxTokens, _boxes, _splits_in_time
from hra.errors import ArrayError

PATCH = 4
PYRAMID = tokens.PyramidSampling(tokens.UniformRelevance(), patch=PATCH)


def video(steps: int, rows: int, columns: int, seed: int = 0) -> list[np.ndarray]:
    return list(np.random.default_rng(seed).random((steps, rows * PATCH, columns * PATCH, 3), dtype=np.float32))


def weighted(context: tokens.TokenContext, scores: np.ndarray) -> tokens.TokenContext:
    return replace(context, scorer=lambda one: scores)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(2, 5), st.integers(1, 4), st.integers(1, 5), st.integers(0, 10**6), st.integers(1, 100), st.booleans()
)
def test_a_cut_shows_the_video_with_the_error_it_states(steps, rows, columns, seed, budget, even):
    context = PYRAMID.context(video(steps, rows, columns, seed), "")
    scores = np.random.default_rng(seed).random(context.grid) * (not even) + even
    context = weighted(context, scores)
    allocation = PYRAMID.allocate(context, budget)
    chosen: Any = PYRAMID.realize(allocation)
    cells = steps * rows * columns
    assert len(chosen) == min(budget, cells) and {*np.concatenate(chosen.cells)} == {*range(cells)}
    lost = ((chosen.reconstruct() - context.image) ** 2).sum(axis=2)
    weight = context.pixel_weight.repeat(PATCH, axis=0).repeat(PATCH, axis=1)
    assert float((lost * weight).sum()) == pytest.approx(allocation.residual, abs=1e-7)
    assert not hra.verify(allocation).refuted


def test_tokens_are_means_of_their_cells_and_stand_in_their_middle():
    context = PYRAMID.context(video(3, 2, 4), "")
    chosen: Any = PYRAMID.realize(PYRAMID.allocate(context, 5))
    features = np.random.default_rng(1).random((6, 4, 7))
    flat = features.reshape(24, 7)
    expected = [flat[cells].mean(axis=0) for cells in chosen.cells]
    np.testing.assert_allclose(chosen.pool(features), expected, rtol=1e-6)
    for cells, slot, box in zip(chosen.cells, chosen.slots, chosen.boxes, strict=True):
        t, y, x = np.unravel_index(cells, (3, 2, 4))
        middle = [(axis.min() + axis.max()) // 2 for axis in (t, y, x)]
        assert slot == np.ravel_multi_index(middle, (3, 2, 4))
        low = [x.min(), middle[0] * 2 + y.min(), x.max() + 1, middle[0] * 2 + y.max() + 1]
        assert box.tolist() == [PATCH * each for each in low]
    with pytest.raises(ArrayError, match="is not one cell"):
        chosen.select(features)
    every: Any = PYRAMID.realize(PYRAMID.allocate(context, 24))
    order = np.argsort(every.slots)
    np.testing.assert_array_equal(every.select(features)[order], flat.astype(np.float32))


def test_boxes_are_split_as_the_best_partition_is():
    # By exhaustive search: the least error plus price over all dyadic partitions of 4 steps and 2 x 2 patches.
    context = PYRAMID.context(video(4, 2, 2, 3), "")
    errors = {}
    for shape, each in _boxes(context).items():
        frames, height, width = each.error.shape
        blocks = each.error.reshape(frames, height // PATCH, PATCH, width // PATCH, PATCH)
        errors[shape] = blocks.sum(axis=(2, 4))
    pixels = context.image.reshape(4, 8, 8, 3).astype(np.float64) * np.sqrt(context.pixel_weight[0, 0])

    def by_hand(time: int, level: int, t: int, y: int, x: int) -> float:
        part = pixels[t << time : (t + 1) << time, :, :]
        side = PATCH << level
        part = part[:, y * side : (y + 1) * side, x * side : (x + 1) * side]
        blocks = part.reshape(len(part), PATCH, 1 << level, PATCH, 1 << level, 3)
        return float(((blocks - blocks.mean(axis=(0, 2, 4), keepdims=True)) ** 2).sum())

    for (time, level), error in errors.items():
        for place in product(*map(range, error.shape)):
            assert error[place] == pytest.approx(by_hand(time, level, *place), abs=1e-12)

    def least(price: float) -> tuple[float, bool | None]:
        @cache
        def search(time: int, level: int, t: int, y: int, x: int) -> tuple[float, bool | None]:
            found: list[tuple[float, bool | None]] = [(errors[time, level][t, y, x] + price, None)]
            if level:
                quarters = product((t,), (2 * y, 2 * y + 1), (2 * x, 2 * x + 1))
                found.append((sum(search(time, level - 1, *each)[0] for each in quarters), False))
            if time:
                found.append((sum(search(time - 1, level, each, y, x)[0] for each in (2 * t, 2 * t + 1)), True))
            return min(found, key=lambda each: each[0])

        return search(2, 1, 0, 0, 0)

    whole = float(errors[2, 1].sum())
    first = next(kind for k in range(24) if (kind := least(whole * 0.5**k)[1]) is not None)
    assert bool(_splits_in_time(errors)[2, 1][0, 0, 0]) is first


def test_what_moves_is_split_in_time_and_what_stands_is_not():
    frames = np.repeat(np.random.default_rng(0).random((1, 4 * PATCH, 4 * PATCH, 3), dtype=np.float32), 4, axis=0)
    frames[:, :PATCH, :PATCH] = np.random.default_rng(1).random((4, PATCH, PATCH, 3))
    context = PYRAMID.context(list(frames), "")
    allocation = PYRAMID.allocate(context, 15 + 4)
    assert allocation.residual == pytest.approx(0, abs=1e-12)
    chosen: Any = PYRAMID.realize(allocation)
    sizes = sorted(len(each) for each in chosen.cells)
    assert sizes == [1] * 4 + [4] * 15


def test_relevance_of_a_video_is_that_of_each_frame():
    frames, seen = video(3, 2, 4), []

    def noting(context: tokens.TokenContext) -> np.ndarray:
        seen.append(context.image.copy())
        return np.arange(8.0).reshape(2, 4) + len(seen)

    context = tokens.PyramidSampling(noting, patch=PATCH).context(frames, "left")
    np.testing.assert_array_equal(
        context.relevance, np.concatenate([np.arange(8.0).reshape(2, 4) + n for n in (1, 2, 3)])
    )
    np.testing.assert_array_equal(np.stack(seen), np.stack(frames))


@pytest.mark.parametrize("method", ["stratified", "pyramid-top-k", "two-pass", "semantic-tree", "downsample"])
def test_methods_of_pictures_refuse_videos(method):
    with pytest.raises(ArrayError, match="allocates on pictures, not on videos"):
        tokens.preset(method).allocate((video(2, 8, 8), ""), 20)


def test_frames_of_different_sizes_are_no_video():
    with pytest.raises(ArrayError, match="2 frames of 2 sizes"):
        PYRAMID.context([*video(1, 2, 2), *video(1, 2, 3)], "")


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 5), st.integers(2, 5), st.integers(0, 3), st.integers(0, 10**6), st.integers(1, 90))
def test_a_copy_and_its_patches_are_one_tree(rows, columns, more, seed, budget):
    image = video(1, rows + more, columns + more, seed)[0]
    context = replace(PYRAMID.context(image, ""), small=(rows, columns))
    allocation = PYRAMID.allocate(context, budget)
    chosen: Any = PYRAMID.realize(allocation)
    cells, finest = rows * columns, (rows + more) * (columns + more)
    assert isinstance(chosen, BoxTokens) and len(chosen) == min(budget, cells + finest)
    assert (chosen.shown >= 0).all() and chosen.reconstruct().shape == image.shape
    fine = chosen.slots >= cells
    assert all(len(each) == 1 for each, one in zip(chosen.cells, fine, strict=True) if one)
    if budget >= cells + finest:
        assert sorted(chosen.slots) == list(range(cells + finest)) and allocation.residual == pytest.approx(0, abs=1e-9)
    features = np.random.default_rng(seed).random((cells + finest, 3))
    pooled = chosen.pool(features, grid=(len(features), 1))
    np.testing.assert_allclose(pooled, [features[each].mean(axis=0) for each in chosen.cells], rtol=1e-5)
    with pytest.raises(ArrayError, match="knows no small copy"):
        tokens.Random(patch=PATCH).allocate(context, 3)
