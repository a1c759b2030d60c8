"""What every preset over finest patches, pyramids and gestalts promises: exact counts, determinism, typed errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import tokens
from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.methods.adaptive_stratified import AdaptiveStratified
from hra.domains.tokens.methods.difficulty_aware import DifficultyAware
from hra.domains.tokens.methods.downsample import Downsample
from hra.domains.tokens.methods.gestalt.compressed import CompressedGestalt
from hra.domains.tokens.methods.gestalt.gestalt import ResizedGestalt
from hra.domains.tokens.methods.gestalt_saccades import GestaltSaccades
from hra.domains.tokens.methods.multi_fixation import MultiFixation
from hra.domains.tokens.methods.pyramid_top_k import PyramidTopK
from hra.domains.tokens.methods.random_patches import Random
from hra.domains.tokens.methods.stratified import Stratified
from hra.domains.tokens.methods.two_pass import TwoPass
from hra.domains.tokens.methods.uniform_grid import UniformGrid
from hra.errors import BudgetTooSmall, ImageError, InvalidBudget, MetricError
from hra.pooling.pool import pool
from hra.traversals.hull import Hull
from tests.helpers.noise import noise

Preset = Callable[..., TokenAllocator[Any]]

FROM_ONE: dict[str, Preset] = {
    "Random": lambda relevance=None, **options: Random(3, relevance, **options),
    "UniformGrid": UniformGrid,
    "Downsample": Downsample,
    "PyramidTopK": PyramidTopK,
    "PyramidTopK, split": lambda *args, **options: PyramidTopK(*args, level_split=(64, 128, 64, 17), **options),
    "Stratified": Stratified,
    "AdaptiveStratified": AdaptiveStratified,
    "DifficultyAware": lambda *args, **options: DifficultyAware(*args, levels=None, **options),
    "MultiFixation": MultiFixation,
}
WITH_BASE: dict[str, Preset] = {
    "GestaltSaccades": GestaltSaccades,
    "compressed": lambda *args, **options: GestaltSaccades(*args, gestalt=CompressedGestalt(8, 8), **options),
    "TwoPass": lambda *args, **options: TwoPass(None, *args, **options),
}
ALL = {**FROM_ONE, **WITH_BASE}
BUDGETS = (16, 64, 137, 150, 273, 529)
EVERY = pytest.mark.parametrize("name", ALL)


def most(context: tokens.TokenContext) -> int:
    """All that there is to take."""
    return int(context.pyramid.offsets[1])


@EVERY
@pytest.mark.parametrize("size", [(1, 1), (37, 500), (333, 257), (512, 384)])
def test_the_count_is_exact_and_the_tokens_can_be_shown(smooth_noise, name: str, size: tuple[int, int]):
    image, allocator = smooth_noise(*size), ALL[name]()
    context = allocator.context(image, "what is on the left?")
    least = 1 if name in FROM_ONE else int(allocator.hierarchy_for(context).base_cost)
    for budget in BUDGETS:
        if budget < least:
            with pytest.raises(BudgetTooSmall, match=f"at least {least}"):
                allocator.allocate(context, budget)
            continue
        allocation = allocator.allocate(context, budget)
        token_set = allocator.realize(allocation)
        assert len(token_set) == allocation.cost == min(budget, most(context))
        assert len(token_set.boxes) == len(token_set.detail) == len(token_set.relevance) == len(token_set)
        assert token_set.values.dtype == np.float32 and np.isfinite(token_set.values).all()
        boxes = token_set.boxes
        assert (boxes[:, :2] < boxes[:, 2:]).all() and (boxes >= 0).all() and (boxes[:, 2:] <= size[::-1]).all()
    token_set = allocator.realize(allocator.allocate(context, 529))
    shown = token_set.reconstruct()
    assert shown.shape == image.shape and shown.min() >= 0 and shown.max() <= 1
    assert tokens.overlay(image, token_set).shape == image.shape


@given(
    size=st.tuples(st.integers(1, 90), st.integers(1, 90)),
    budget=st.integers(1, 60),
    name=st.sampled_from(list(FROM_ONE)),
    patch=st.sampled_from([4, 8]),
)
def test_counts_are_exact_at_any_size(size: tuple[int, int], budget: int, name: str, patch: int):
    allocator = FROM_ONE[name](patch=patch)
    context = allocator.context(noise(*size), "bottom")
    allocation = allocator.allocate(context, budget)
    expected = min(budget, most(context))
    assert allocation.cost == expected
    assert allocator.realize(allocation).values.shape == (expected, 3 * patch**2)


@given(
    size=st.tuples(st.integers(1, 90), st.integers(1, 90)),
    spare=st.integers(0, 60),
    grid=st.tuples(st.integers(1, 6), st.integers(1, 6)),
    compressed=st.booleans(),
)
def test_a_base_of_any_grid_leaves_the_rest_to_patches(size, spare, grid, compressed):
    gestalt = (CompressedGestalt if compressed else ResizedGestalt)(*grid)
    allocator = GestaltSaccades(patch=8, gestalt=gestalt)
    context = allocator.context(noise(*size), "")
    base = int(allocator.hierarchy_for(context).base_cost)
    token_set = allocator.realize(allocator.allocate(context, base + spare))
    assert len(token_set) == min(base + spare, most(context))
    if base + spare < most(context):
        assert len(token_set.base) == base <= grid[0] * grid[1]
    assert (token_set.token_map() >= 0).all()


@EVERY
def test_a_megapixel(smooth_noise, name: str):
    assert ALL[name]().allocate((smooth_noise(1024, 1024), ""), 529).cost == 529


@pytest.mark.parametrize("name", ["PyramidTopK", "DifficultyAware", "MultiFixation", "GestaltSaccades", "TwoPass"])
def test_a_token_bank_shares_one_budget_over_mixed_sizes(smooth_noise, name: str):
    allocator = ALL[name]()
    contexts = [allocator.context(smooth_noise(*size), "") for size in ((256, 320), (333, 257))]
    pooled = pool(allocator, allocator, traversal=Hull(spend_all=True)).allocate(contexts, 600)
    assert sum(len(allocator.realize(member)) for member in pooled.members) == 600


@EVERY
def test_a_conversation_may_go_on_from_the_last_step(smooth_noise, name: str):
    allocator = ALL[name]()
    context = allocator.context(smooth_noise(200, 150), "")
    first = allocator.allocate(context, 140)
    assert allocator.allocate(context, 140, previous=first).churn == 0
    pinned = first.cut[-3:]
    assert np.isin(pinned, allocator.allocate(context, 140, pinned=pinned).cut).all()


@EVERY
def test_the_same_input_gives_the_same_tokens(smooth_noise, name: str):
    image = smooth_noise(200, 150)
    first, second = (ALL[name]().allocate((image, "the total"), 140) for _ in range(2))
    assert np.array_equal(first.selected, second.selected)


@EVERY
@pytest.mark.parametrize("scores", [np.ones((4, 5)), np.zeros((4, 5)), -np.ones((4, 5)), np.eye(4, 5) - 0.5])
def test_equal_zero_and_negative_scores_still_give_the_exact_count(name: str, scores: np.ndarray):
    allocator = ALL[name](lambda context: scores, patch=8)
    context = allocator.context(np.full((32, 40, 3), 0.5, np.float32), "")
    allocation = allocator.allocate(context, 20)
    assert len(allocator.realize(allocation)) == allocation.cost == min(20, most(context))


@EVERY
@pytest.mark.parametrize("scores", [np.full((2, 2), np.nan), np.ones((2, 2, 3)), [["a", "b"], ["c", "d"]]])
def test_bad_relevance_is_refused(name: str, scores: Any):
    allocator = ALL[name](lambda context: scores)
    with pytest.raises(MetricError):
        allocator.realize(allocator.allocate((np.zeros((32, 32, 3)), ""), 4))


@EVERY
@pytest.mark.parametrize("budget", [-1, float("nan"), True, "273"])
def test_bad_budgets_are_refused(name: str, budget: Any):
    with pytest.raises(InvalidBudget):
        ALL[name]().allocate((np.zeros((32, 32, 3)), ""), budget)


@EVERY
def test_bad_images_are_refused(name: str):
    with pytest.raises(ImageError):
        ALL[name]().allocate((np.full((32, 32, 3), np.nan), ""), 5)


@EVERY
def test_an_infinite_budget_takes_all(name: str):
    allocator = ALL[name](patch=8)
    context = allocator.context(noise(40, 60), "")
    assert allocator.allocate(context, float("inf")).cost == most(context)
