"""The presets: exact counts at every size, what they gain, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import tokens
from hra.errors import BudgetTooSmall, FileError, ImageError, InvalidBudget, MetricError
from hra.pooling.pool import pool
from tests.helpers.allocators_cases import shown_levels
from tests.helpers.noise import noise

BUDGETS = [1, 16, 64, 137, 150, 273, 529]
SIZES = [(1, 1), (16, 16), (37, 500), (1, 700), (333, 257), (512, 384)]
PRESETS = [tokens.GridTopK, tokens.PyramidSampling, tokens.FoveatedPyramid]


def patches(image: np.ndarray, patch: int = 16) -> int:
    return -(-image.shape[0] // patch) * -(-image.shape[1] // patch)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("size", SIZES)
def test_exactly_the_budget_or_the_whole_image(smooth_noise, preset, size):
    image = smooth_noise(*size)
    allocator = preset()
    context = allocator.context(image, "what is on the left?")
    for budget in BUDGETS:
        allocation = allocator.allocate(context, budget)
        token_set = allocator.realize(allocation)
        assert len(token_set) == allocation.cost == min(budget, patches(image))
        assert len(np.unique(token_set.places, axis=0)) == len(token_set)


@pytest.mark.case(51)
@given(st.integers(1, 150), st.integers(1, 150), st.integers(1, 60), st.sampled_from(PRESETS), st.sampled_from([4, 8]))
def test_counts_are_exact_at_any_size(height, width, budget, preset, patch):
    image = noise(height, width)
    allocator = preset(patch=patch)
    allocation = allocator.allocate((image, "bottom"), budget)
    assert allocation.cost == min(budget, patches(image, patch))
    assert allocator.realize(allocation).values.shape == (allocation.cost, 3 * patch**2)


@given(st.integers(1, 120), st.integers(1, 120), st.integers(1, 60), st.integers(0, 5))
def test_a_pyramid_cut_shows_every_pixel_once_at_its_finest(height, width, budget, seed):
    allocator = tokens.PyramidSampling(patch=8)
    token_set = allocator.realize(allocator.allocate((noise(height, width, seed), ""), budget))
    level, count = shown_levels(token_set), np.zeros((height, width), int)
    for (depth, _, _), (x0, y0, x1, y1) in zip(token_set.places, token_set.boxes, strict=True):
        count[y0:y1, x0:x1] += level[y0:y1, x0:x1] == depth
    assert (count == 1).all()


@pytest.mark.parametrize("preset", PRESETS)
def test_the_same_input_gives_the_same_tokens(smooth_noise, preset):
    image = smooth_noise(200, 150)
    first, second = (preset().allocate((image, "the total"), 40) for _ in range(2))
    assert np.array_equal(first.selected, second.selected)


@pytest.mark.parametrize("preset", PRESETS)
def test_equal_scores_are_deterministic_and_exact(preset):
    constant = np.full((160, 160, 3), 0.5, np.float32)
    allocator = preset(tokens.UniformRelevance())
    cuts = [allocator.allocate((constant, ""), 37).cut.tolist() for _ in range(2)]
    assert cuts[0] == cuts[1] and len(cuts[0]) == 37


def test_the_allocation_predicts_the_reconstruction(smooth_noise):
    image = smooth_noise(256, 256)
    allocator = tokens.PyramidSampling(tokens.UniformRelevance())
    allocation = allocator.allocate((image, ""), 100)
    error = np.mean((allocator.realize(allocation).reconstruct() - image) ** 2)
    assert error == pytest.approx(allocation.residual, rel=0.05)


def test_the_hull_is_within_its_bound_and_beats_a_coarser_choice(smooth_noise):
    image = smooth_noise(256, 320)
    allocator = tokens.PyramidSampling()
    context = allocator.context(image, "")
    allocation = allocator.allocate(context, 80)
    uniform_level = context.node_errors[0][context.pyramid.positions[:, 0] == 2].sum()  # 20 tokens
    assert allocation.gain <= allocation.upper_bound * (1 + 1e-12)
    assert allocation.residual < uniform_level
    assert allocation.residual_gap < 0.05


def test_relevance_draws_tokens_to_where_it_is():
    image = noise(256, 256)
    allocator = tokens.PyramidSampling()
    token_set = allocator.realize(allocator.allocate((image, "what is at the bottom right?"), 64))
    finest = token_set.places[token_set.places[:, 0] == 0]
    assert len(finest) and (finest[:, 1:] >= 8).all()


def test_too_small_a_budget_states_the_minimum(smooth_noise):
    image = smooth_noise(1024, 1024)
    with pytest.raises(BudgetTooSmall, match="64"):
        tokens.PyramidSampling(levels=4).allocate((image, ""), 63)
    assert tokens.PyramidSampling(levels=4).allocate((image, ""), 64).cost == 64
    with pytest.raises(BudgetTooSmall):
        tokens.PyramidSampling().allocate((image[:32, :32], ""), 0)


def test_allocation_survives_a_reused_buffer(smooth_noise):
    image = smooth_noise(64, 64)
    expected = image.copy()
    allocator = tokens.PyramidSampling()
    allocation = allocator.allocate((image, ""), 100)
    image[:] = 0
    assert np.array_equal(allocator.realize(allocation).reconstruct(), expected)


def test_a_token_bank_shares_one_budget_over_mixed_sizes(smooth_noise):
    detailed, plain = smooth_noise(256, 192), np.full((100, 300, 3), 0.5, np.float32)
    allocator = tokens.PyramidSampling(tokens.UniformRelevance())
    contexts = (allocator.context(detailed, ""), allocator.context(plain, ""))
    pooled = pool(allocator, allocator).allocate(contexts, 100)
    first, second = (len(allocator.realize(member)) for member in pooled.members)
    assert first + second <= 100 and second == 1 and first > 90
    raw = pool(allocator, allocator).allocate(((detailed, ""), (plain, "")), 100)
    assert [len(allocator.realize(member)) for member in raw.members] == [first, second]


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(
    "image",
    [
        np.full((32, 32, 3), np.nan, np.float32),
        np.full((32, 32, 3), np.inf, np.float32),
        np.full((32, 32, 3), 2.0),
        np.zeros((8, 32, 32), np.float32),
        np.zeros((32, 32, 3), np.int64),
        np.zeros((32, 32, 3), bool),
        np.zeros((0, 32, 3), np.float32),
    ],
    ids=["nan", "inf", "range", "layout", "int64", "bool", "empty"],
)
def test_bad_images_are_refused(preset, image):
    with pytest.raises(ImageError):
        preset().allocate((image, ""), 5)


def test_a_missing_file_is_named():
    with pytest.raises(FileError, match=r"photo\.jpg"):
        tokens.PyramidSampling().allocate(("photo.jpg", ""), 5)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("scores", [np.full((2, 2), np.nan), np.ones((1, 2, 3)), np.ones(4), [["a", "b"], ["c", "d"]]])
def test_bad_relevance_is_refused(preset, scores):
    with pytest.raises(MetricError):
        preset(lambda context: scores).allocate((np.zeros((32, 32, 3)), ""), 3)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("scores", [np.zeros((2, 2)), -np.ones((2, 2)), [[-1, 0], [0, 5]]])
def test_zero_and_negative_relevance_still_give_the_exact_count(preset, scores):
    assert preset(lambda context: scores).allocate((noise(32, 32), ""), 3).cost == 3


@pytest.mark.parametrize("budget", [-1, float("nan"), True, "273"])
def test_bad_budgets_are_refused(budget):
    with pytest.raises(InvalidBudget):
        tokens.PyramidSampling().allocate((np.zeros((32, 32, 3)), ""), budget)


@pytest.mark.parametrize("size", [(20000, 1), (1, 20000)])
def test_long_strips(size):
    image = noise(*size)
    allocator = tokens.PyramidSampling()
    token_set = allocator.realize(allocator.allocate((image, ""), 273))
    assert len(token_set) == 273 and token_set.reconstruct().shape == (*size, 3)
