"""Log-polar, vortex, frequency-aware and residual-scale presets: exact counts, determinism, what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.methods.frequency.frames import LaplacianFrame
from hra.domains.tokens.methods.frequency_aware import FrequencyAware
from hra.domains.tokens.methods.log_polar import LogPolar
from hra.domains.tokens.methods.residual_scales import ResidualScales
from hra.domains.tokens.methods.vortex import Vortex
from hra.domains.tokens.pictures.sheet import overlay
from hra.errors import BudgetTooSmall, ImageError, MetricError

BUDGETS = [16, 64, 137, 150, 273, 529]
SIZES = [(1, 1), (37, 500), (333, 257), (512, 384)]
PRESETS = {
    "log-polar": LogPolar,
    "vortex": Vortex,
    "steerable": FrequencyAware,
    "laplacian": lambda relevance=None: FrequencyAware(relevance, frame=LaplacianFrame()),
    "space": lambda relevance=None: FrequencyAware(relevance, first="space"),
    "residual": ResidualScales,
}
presets = pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS.keys())


def check_exact(image: np.ndarray, preset) -> None:
    allocator = preset()
    context = allocator.context(image, "what does the text say?")
    hierarchy = allocator.hierarchy_for(context)
    for budget in BUDGETS:
        if budget < hierarchy.base_cost:
            continue
        allocation = allocator.allocate(context, budget)
        token_set = allocator.realize(allocation)
        assert len(token_set) == allocation.cost == min(budget, context.pyramid.offsets[1])
        assert token_set.values.shape == (len(token_set), 768) and token_set.values.dtype == np.float32


@presets
@pytest.mark.parametrize("size", SIZES)
def test_exactly_the_budget_or_everything(smooth_noise, preset, size):
    check_exact(smooth_noise(*size), preset)


@pytest.mark.slow
@presets
def test_exact_counts_of_a_large_image(smooth_noise, preset):
    check_exact(smooth_noise(1024, 1024), preset)


@given(st.integers(1, 150), st.integers(1, 150), st.integers(1, 60), st.sampled_from(sorted(PRESETS)))
def test_any_size_gives_exact_counts_and_an_image(height, width, budget, name):
    image = np.random.default_rng(budget).random((height, width, 3), dtype=np.float32)
    allocator = PRESETS[name]()
    context = allocator.context(image, "")
    total = context.pyramid.offsets[1]
    token_set = allocator.realize(allocator.allocate(context, budget))
    assert len(token_set) == min(budget, total)
    shown = token_set.reconstruct()
    assert shown.shape == image.shape and np.isfinite(shown).all() and shown.min() >= 0 and shown.max() <= 1
    x0, y0, x1, y1 = token_set.boxes.T
    assert (x0 >= 0).all() and (y0 >= 0).all() and (x0 < x1).all() and (y0 < y1).all()
    assert (x1 <= width).all() and (y1 <= height).all()
    assert overlay(image, token_set).shape == image.shape


@presets
def test_the_same_input_gives_the_same_tokens(smooth_noise, preset):
    image = smooth_noise(200, 150)
    first, second = (preset().allocate((image, "the total"), 40) for _ in range(2))
    assert np.array_equal(first.selected, second.selected)
    assert np.array_equal(preset().realize(first).values, preset().realize(second).values)


@presets
def test_equal_scores_of_a_flat_image_are_exact(preset):
    image = np.full((100, 90, 3), 0.5, np.float32)
    allocator = preset(lambda context: np.ones((7, 6)))
    token_set = allocator.realize(allocator.allocate((image, ""), 17))
    assert len(token_set) == 17
    np.testing.assert_allclose(token_set.reconstruct(), image, atol=1e-5)


@presets
@pytest.mark.parametrize("scores", [np.full((2, 2), np.nan), np.ones((1, 2, 3)), np.ones(4)])
def test_bad_relevance_is_refused(preset, scores):
    with pytest.raises(MetricError):
        preset(lambda context: scores).allocate((np.zeros((32, 32, 3)), ""), 3)


@presets
@pytest.mark.parametrize("scores", [np.zeros((2, 2)), -np.ones((2, 2)), [[-1, 0], [0, 5]]])
def test_zero_and_negative_relevance_still_give_the_exact_count(preset, scores):
    image = np.random.default_rng(0).random((32, 32, 3), dtype=np.float32)
    assert preset(lambda context: scores).allocate((image, ""), 3).cost == 3


@presets
def test_bad_images_are_refused(preset):
    with pytest.raises(ImageError):
        preset().allocate((np.full((32, 32, 3), np.nan, np.float32), ""), 5)


@presets
@pytest.mark.parametrize("size", [(5000, 1), (1, 5000)])
def test_long_strips(preset, size):
    image = np.random.default_rng(0).random((*size, 3), dtype=np.float32)
    allocator = preset()
    token_set = allocator.realize(allocator.allocate((image, ""), 100))
    assert len(token_set) == 100 and token_set.reconstruct().shape == image.shape


def test_the_coarsest_scale_is_the_smallest_budget(smooth_noise):
    image = smooth_noise(1024, 512)
    with pytest.raises(BudgetTooSmall, match="8"):
        ResidualScales().allocate((image, ""), 7)
    assert ResidualScales().allocate((image, ""), 8).cost == 8


@pytest.mark.parametrize("preset", [LogPolar, Vortex, FrequencyAware])
def test_no_tokens_are_no_error(smooth_noise, preset):
    allocator = preset()
    token_set = allocator.realize(allocator.allocate((smooth_noise(40, 50), ""), 0))
    assert len(token_set) == 0 and token_set.reconstruct().shape == (40, 50, 3)
