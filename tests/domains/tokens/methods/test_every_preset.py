"""Every registered preset: exact counts at odd sizes, and the cases of bad input that concern images and scores."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from hra.domains import tokens
from hra.errors import ArrayError, BudgetTooSmall, HraError, ImageError, MetricError

BUDGETS = (16, 64, 137, 150, 273, 529)
every = pytest.mark.parametrize("name", tokens.PRESETS)
# Presets that take scores; the complexity of `DifficultyAware` stands in for relevance.
SCORED = [
    name for name, kind in tokens.PRESETS.items() if {"relevance", "complexity"} & {*inspect.signature(kind).parameters}
]


def count_of(allocator: tokens.TokenAllocator[Any], context: tokens.TokenContext) -> tuple[int, int]:
    """The smallest budget and all that there is to take."""
    if isinstance(allocator, tokens.Downsample):
        return 1, int(context.pyramid.offsets[1])
    return int(allocator.hierarchy_for(context).base_cost), int(context.pyramid.offsets[1])


def check_counts(allocator: tokens.TokenAllocator[Any], image: np.ndarray, budgets: tuple[int, ...] = BUDGETS) -> None:
    context = allocator.context(image, "what is on the left?")
    least, most = count_of(allocator, context)
    for budget in budgets:
        if budget < least:
            with pytest.raises(BudgetTooSmall, match=f"at least {least}"):
                allocator.allocate(context, budget)
            continue
        chosen = allocator.realize(allocator.allocate(context, budget))
        assert len(chosen) == len(chosen.boxes) == min(budget, most), budget
        assert np.isfinite(chosen.values).all()


def scored(name: str, relevance: Any) -> tokens.TokenAllocator[Any]:
    kind = tokens.PRESETS[name]
    return kind(**{"complexity" if "complexity" in inspect.signature(kind).parameters else "relevance": relevance})


@pytest.mark.case(51)
@every
@pytest.mark.parametrize("size", [(333, 257), (519, 403), (37, 1001)])
def test_every_budget_is_met_at_odd_sizes(smooth_noise, name: str, size: tuple[int, int]):
    check_counts(tokens.preset(name), smooth_noise(*size))


@every
def test_two_runs_choose_the_same(smooth_noise, name: str):
    image = smooth_noise(333, 403)
    first, second = (tokens.preset(name).allocate((image.copy(), "left"), 273) for _ in range(2))
    assert np.array_equal(first.cut, second.cut)


@pytest.mark.case(40, 41)
@every
def test_one_pixel_and_strips(name: str):
    """Cases 40 and 41: an image of one pixel, of one row or column, and 20,000 x 1."""
    rng = np.random.default_rng(0)
    for size in ((1, 1), (1, 700), (700, 1), (20000, 1)):
        check_counts(tokens.preset(name), rng.random((*size, 3), dtype=np.float32), (16, 529))


@every
def test_a_budget_beyond_the_image_takes_the_whole_image_and_no_more(smooth_noise, name: str):
    image = smooth_noise(40, 40)
    allocator = tokens.preset(name)
    for budget in (9, 10, 273):
        chosen = allocator.realize(allocator.allocate((image, ""), budget))
        assert len(chosen) == 9
        assert np.allclose(chosen.reconstruct(), image, atol=1e-5)


@pytest.mark.case(44)
@every
def test_16_bit_and_grey(name: str):
    """Case 44: 16-bit and float images are the same image."""
    wide = np.random.default_rng(0).integers(0, 65536, (96, 130), dtype=np.uint16)
    allocator = tokens.preset(name)
    most = count_of(allocator, allocator.context(wide, ""))[1]
    whole, real = (allocator.realize(allocator.allocate((image, ""), most)) for image in (wide, wide / 65535))
    assert np.allclose(whole.values, real.values, atol=1e-6)


@pytest.mark.case(52, 53)
@every
def test_bad_images_are_refused(name: str):
    """Cases 52 and 53: NaN, no layout of images, another type."""
    image = np.full((64, 80, 3), 0.5, np.float32)
    broken = image.copy()
    broken[3, 4, 1] = np.nan
    for bad in (broken, image.reshape(-1, 8, 8), image.astype(complex), image[0, 0], image.astype(object), image[:0]):
        with pytest.raises((ImageError, ArrayError)):
            tokens.preset(name).allocate((bad, ""), 16)


@pytest.mark.case(54)
@every
def test_mixed_sizes_in_a_batch(smooth_noise, name: str):
    """Cases 39 and 54: no images, and images of several sizes."""
    allocator = tokens.preset(name)
    assert allocator.allocate_batch([], 273) == []
    choices = allocator.allocate_batch(
        [(smooth_noise(*size), "") for size in ((333, 257), (519, 403), (333, 257))], 273
    )
    sets = allocator.realize_batch(choices)
    assert [len(one) for one in sets] == [273] * 3
    assert tokens.batch_tokens(sets).values.shape[:2] == (3, 273)


@pytest.mark.case(55)
@pytest.mark.parametrize("name", SCORED)
def test_scores_that_are_not_numbers_are_refused_and_negative_ones_are_shifted(smooth_noise, name: str):
    """Case 55."""
    image, rng = smooth_noise(320, 352), np.random.default_rng(0)
    with pytest.raises(MetricError, match="nan"):
        # `UniformGrid` and `Random` need scores for the order of their tokens only.
        unscored = scored(name, lambda context: np.full((20, 22), np.nan))
        unscored.realize(unscored.allocate((image, ""), 273))
    scores = rng.normal(size=(20, 22))
    given, shifted = (
        scored(name, lambda context, values=values: values).allocate((image, ""), 273)
        for values in (scores, scores - scores.min())
    )
    assert np.array_equal(given.cut, shifted.cut)


@pytest.mark.case(56)
@pytest.mark.parametrize("name", SCORED)
def test_equal_scores_are_deterministic(name: str):
    """Case 56, on an image whose patches are all equal, too."""
    image = np.full((320, 352, 3), 0.5, np.float32)
    for value in (0.0, 1.0):
        first, second = (
            scored(name, lambda context, value=value: np.full((20, 22), value)).allocate((image, ""), 273)
            for _ in range(2)
        )
        assert first.cost == 273 and np.array_equal(first.cut, second.cut)


COUNTS = [("stratified", "rows"), ("stratified", "columns"), ("vortex", "centres"), ("residual-scales", "scales"),
          ("semantic-atlas", "regions"), ("semantic-atlas", "per_region"), ("random", "seed")]  # fmt: skip
NUMBERS = [("foveated", "field_of_view"), ("multi-fixation", "field_of_view"), ("multi-fixation", "threshold"),
           ("vortex", "field_of_view"), ("log-polar", "field_of_view"), ("log-polar", "foveal_share"),
           ("log-polar", "foveal_radius"), ("pyramid-top-k", "level_weight")]  # fmt: skip


@pytest.mark.parametrize(("name", "setting"), COUNTS)
def test_settings_that_count_are_whole_numbers(name: str, setting: str) -> None:
    """No seed at all, for one, made other tokens each time."""
    for value in (1.5, float("nan"), float("inf"), -1, "2", [], *[None] * (setting != "regions"), True):
        with pytest.raises(HraError, match=setting):
            tokens.PRESETS[name](**{setting: value})
    image = np.random.default_rng(0).random((96, 128, 3), dtype=np.float32)
    found = [tokens.PRESETS[name](**{setting: two}) for two in (2, np.int8(2), np.array(2))]
    chosen = [allocator.realize(allocator.allocate((image, ""), 32)).values for allocator in found]
    assert np.array_equal(chosen[0], chosen[1]) and np.array_equal(chosen[0], chosen[2])


@pytest.mark.parametrize(("name", "setting"), NUMBERS)
def test_settings_that_measure_are_numbers(name: str, setting: str) -> None:
    for value in (float("nan"), float("inf"), -1, "2", [], None, True):
        with pytest.raises(ArrayError, match=setting):
            tokens.PRESETS[name](**{setting: value})
