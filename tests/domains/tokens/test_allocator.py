"""Batches: as many tokens as asked for, no worse than image by image, with a bound that holds."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.domains import tokens
from hra.errors import ArrayError, BudgetTooSmall, HierarchyError, HraError, ImageError, InvalidBudget, MetricError
from hra.traversals.exact import Exact
from hra.traversals.threshold import Threshold

DIRECT = {
    "pyramid": tokens.PyramidSampling,
    "four levels": lambda: tokens.PyramidSampling(levels=4),
    "even": tokens.EvenPyramid,
    "foveated": tokens.FoveatedPyramid,
    "grid": tokens.GridTopK,
    "pyramid top-k": tokens.PyramidTopK,
}
SIZES = [(512, 512), (333, 257), (512, 512), (37, 500)]


@pytest.mark.parametrize("patch", [7, 1, 0, -2, 1.5, "16", None])
def test_an_odd_patch_is_refused_at_once(patch):
    for make in (tokens.PyramidSampling, tokens.GridTopK, tokens.Downsample, tokens.REDUCERS["divprune"]):
        with pytest.raises(ArrayError, match="even"):
            make(patch=patch)
    for levels in (0, 1.5):
        with pytest.raises(ArrayError, match="levels"):
            tokens.PyramidSampling(levels=levels)  # pyright: ignore


@pytest.mark.parametrize("make", DIRECT.values(), ids=DIRECT)
@pytest.mark.parametrize("budget", [64, 137, 273])
def test_mixed_sizes_get_what_single_images_get_or_better(smooth_noise, make, budget: int):
    allocator = make()
    contexts = [allocator.context(smooth_noise(*size, seed=i), "on the left") for i, size in enumerate(SIZES)]
    choices = allocator.allocate_batch(contexts, budget)
    for context, choice, token_set in zip(contexts, choices, allocator.realize_batch(choices), strict=True):
        alone = allocator.allocate(context, budget)
        assert len(choice) == len(token_set) == alone.cost
        assert choice.gain >= alone.gain * (1 - 1e-12) and choice.base_error == pytest.approx(alone.base_error)
        if choice.upper_bound is None:
            assert alone.status == "heuristic" and choice.residual_gap is None
        else:
            assert choice.gain <= choice.upper_bound <= alone.upper_bound * (1 + 1e-12) + 1e-15
        single = allocator.realize(alone)
        assert token_set.values.shape == single.values.shape and token_set.values.dtype == np.float32
        if allocator.builder == tokens.GridBuilder():
            assert np.array_equal(choice.cut, alone.cut)


@given(
    size=st.tuples(st.integers(1, 120), st.integers(1, 120)),
    budget=st.integers(1, 80),
    levels=st.sampled_from([None, 2, 3]),
    seed=st.integers(0, 9),
)
def test_the_short_way_finds_what_the_exact_search_proves(size, budget: int, levels, seed: int):
    rng = np.random.default_rng(seed)
    image = rng.random((*size, 3), dtype=np.float32) ** 4
    allocator = tokens.PyramidSampling(lambda context: rng.random(grid) ** 3, patch=8, levels=levels)
    grid = (-(-size[0] // 8), -(-size[1] // 8))
    context = allocator.context(image, "")
    hierarchy = allocator.hierarchy_for(context)
    if budget < hierarchy.base_cost:
        with pytest.raises(BudgetTooSmall):
            allocator.allocate_batch([context], budget)
        return
    (choice,) = allocator.allocate_batch([context], budget)
    problem = allocator.problem_for(hierarchy, context, budget)
    best = Exact(spend_all=True).solve(problem)
    assert choice.gain == pytest.approx(problem.gain[best.selected].sum(), rel=1e-9, abs=1e-15)
    assert len(choice) == min(budget, hierarchy.total_cost)
    # Whatever is in the cut, or above it, was added: these refinements are down-closed and lead to just this cut.
    added = np.zeros(hierarchy.node_cost.size, bool)
    for node in choice.cut:
        while node >= 0 and not added[node]:
            added[node], node = True, context.pyramid.parents[node]
    selected = np.zeros(len(hierarchy), bool)
    selected[hierarchy.added_by[added & (hierarchy.added_by >= 0)]] = True
    assert hierarchy.is_valid(selected)
    assert np.array_equal(np.flatnonzero(hierarchy.active_nodes(selected)), choice.cut)
    assert (allocator.realize_batch([choice])[0].token_map() >= 0).all()


@pytest.mark.parametrize("preset", ["PyramidSampling", "FoveatedPyramid", "GridTopK", "PyramidTopK"])
@given(size=st.tuples(st.integers(1, 150), st.integers(1, 150)), blocks=st.integers(0, 2), seed=st.integers(0, 9**4))
def test_one_image_gets_the_tokens_that_it_gets_in_a_batch(preset, size, blocks: int, seed: int):
    # Noise, noise in whole blocks, and one bright side: ties everywhere.
    rng = np.random.default_rng(seed)
    noise = rng.random((*size, 3), dtype=np.float32)
    whole = noise[: -(-size[0] // 8), : -(-size[1] // 8)].repeat(8, 0).repeat(8, 1)[: size[0], : size[1]]
    side = np.where(np.arange(size[1])[:, None] < rng.integers(size[1]) + 1, np.ones_like(noise), 0)
    allocator = getattr(tokens, preset)(patch=8)
    context = allocator.context((noise, whole, side)[blocks], "top left")
    for budget in {1, 3, context.pyramid.offsets[1] // 2, context.pyramid.offsets[1] - 1}:
        if budget >= allocator.hierarchy_for(context).base_cost:
            (together,) = allocator.allocate_batch([context], budget)
            assert np.array_equal(allocator.allocate(context, budget).cut, together.cut)


def test_what_has_no_short_way_is_allocated_alone(smooth_noise):
    image = smooth_noise(320, 400)
    for allocator in (tokens.TokenDAG(), tokens.Downsample(), tokens.LogPolar(), tokens.SemanticTree()):
        (choice,) = allocator.allocate_batch([(image, "")], 64)
        assert choice.allocation is not None and len(choice) == len(allocator.realize_batch([choice])[0]) == 64
    by_threshold = tokens.TokenAllocator(tokens.PyramidBuilder(), tokens.RelevanceError(), Threshold())
    assert by_threshold.allocate_batch([(image, "")], 64)[0].allocation is not None
    (choice,) = tokens.PyramidSampling().allocate_batch([(image, "")], 64)
    assert choice.allocation is None
    with pytest.raises(ArrayError, match="has none"):
        tokens.TokenDAG().realize_batch([choice])


def test_an_own_step_is_not_skipped(smooth_noise):
    def halved(context, budget, previous, pinned):
        return tokens.PyramidSampling().allocate(context, budget // 2, previous=previous, pinned=pinned)

    parts = (tokens.PyramidBuilder(), tokens.RelevanceError(), hra.Hull(spend_all=True))
    (choice,) = tokens.TokenAllocator(*parts, steps=halved).allocate_batch([(smooth_noise(320, 400), "")], 64)
    assert len(choice) == 32


@pytest.mark.case(39)
def test_flat_images_tiny_images_and_none():
    allocator = tokens.PyramidSampling()
    assert allocator.allocate_batch([], 64) == [] and allocator.realize_batch([]) == []
    images = [np.full((300, 200, 3), 0.5, np.float32), np.zeros((1, 1, 3), np.float32), np.ones((40, 3, 3), np.float32)]
    choices = allocator.allocate_batch([(image, "") for image in images], 64)
    assert [len(choice) for choice in choices] == [64, 1, 3]
    assert [len(choice) for choice in allocator.allocate_batch([(images[0], "")] * 2, float("inf"))] == [247, 247]
    first, second = (allocator.allocate_batch([(images[0], "")], 64)[0].cut for _ in range(2))
    assert np.array_equal(first, second)


@pytest.mark.parametrize("budget", [-1, float("nan"), True, "64"])
def test_budgets_that_are_none_are_refused(budget):
    with pytest.raises(InvalidBudget):
        tokens.PyramidSampling().allocate_batch([], budget)


@pytest.mark.parametrize("query", [None, 5, b"where?"])
def test_a_question_that_is_not_a_text_is_refused(query):
    image = np.zeros((64, 64, 3), np.float32)
    with pytest.raises(HraError, match="query must be a str"):
        tokens.PyramidSampling().context(image, query)
    with pytest.raises(HraError, match="query must be a str"):
        tokens.StreamedPyramid().allocate((tokens.StreamedImage.read(image), query), 4)


def test_bad_images_and_scores_are_refused():
    image = np.zeros((64, 64, 3), np.float32)
    with pytest.raises(ImageError):
        tokens.PyramidSampling().allocate_batch([(image, ""), (image * np.nan, "")], 4)
    with pytest.raises(MetricError, match="nan"):
        tokens.PyramidSampling(lambda context: np.full((4, 4), np.nan)).allocate_batch([(image, "")], 4)


@pytest.mark.parametrize("relevance", ["phrase", 5, tokens.PhraseRelevance])
def test_a_relevance_that_gives_no_scores_is_refused(relevance: Any) -> None:
    with pytest.raises(HraError, match="relevance must be") as caught:
        tokens.GridTopK(relevance=relevance)
    assert "PhraseRelevance()" in caught.value.fix


WRONG = {
    "chooser": lambda value: tokens.AdaptiveStratified(chooser=value),
    "complexity": lambda value: tokens.DifficultyAware(value),
    "encoder": lambda value: tokens.SemanticAtlas(encoder=value),
    "frame": lambda value: tokens.FrequencyAware(frame=value),
    "gestalt": lambda value: tokens.GestaltSaccades(gestalt=value),
    "gestalt of two passes": lambda value: tokens.TwoPass(gestalt=value),
    "score": lambda value: tokens.TwoPass(value),
    "source": lambda value: tokens.SemanticTree(value),
    "source of cells": lambda value: tokens.SemanticAtlas(value),
    "relevance": lambda value: tokens.FoveatedPyramid(value),
    "relevance from coarse to fine": lambda value: tokens.CoarseToFineRelevance(value),
    "relevance of any size": lambda value: tokens.StreamedPyramid(value),
    "relevance by name": lambda value: tokens.TokenAllocation(budget=20, relevance=value),
    "traversal by name": lambda value: tokens.TokenAllocation(budget=20, traversal=value),
}


@pytest.mark.parametrize("argument", WRONG)
@pytest.mark.parametrize("value", [3, object, tokens.PhraseRelevance], ids=["number", "class", "class of functions"])
def test_a_wrong_object_is_named_at_once(argument: str, value: Any) -> None:
    with pytest.raises(HraError) as caught:
        WRONG[argument](value)
    assert caught.value.where == argument.split()[0] and caught.value.fix


def test_an_allocation_without_its_image_says_how_to_get_it_back(smooth_noise):
    allocator = tokens.PyramidSampling()
    pair = smooth_noise(96, 128), "on the left"
    allocation = allocator.allocate(pair, 20)
    loaded = pickle.loads(pickle.dumps(allocation))
    with pytest.raises(HraError, match=r"no image.*\n.*\nfix: call adopt\(allocation, \(image, query\)\) first"):
        allocator.realize(loaded)
    again = allocator.realize(allocator.adopt(loaded, pair))
    assert np.array_equal(again.values, allocator.realize(allocation).values)


@pytest.mark.parametrize(
    ("made_by", "given_to"), [("pyramid", "grid"), ("grid", "pyramid"), ("grid", "log-polar"), ("pyramid", "two-pass")]
)
def test_an_allocation_of_another_method_is_refused(smooth_noise, made_by, given_to):
    allocation = tokens.preset(made_by).allocate((smooth_noise(160, 224), ""), 140)
    with pytest.raises(HierarchyError, match="another hierarchy than those that"):
        tokens.preset(given_to).realize(allocation)


@pytest.mark.parametrize("wrong", [None, 5], ids=repr)
def test_what_is_no_list_of_pictures_or_choices_is_refused(wrong):
    allocator = tokens.PyramidSampling()
    for name, call in {
        "allocation": lambda: allocator.realize(wrong),
        "contexts": lambda: allocator.allocate_batch(wrong, 4),
        "choices": lambda: allocator.realize_batch(wrong),
        r"choices\[0\]": lambda: allocator.realize_batch([wrong]),
        "token_sets": lambda: tokens.batch_tokens(wrong),
        r"token_sets\[0\]": lambda: tokens.batch_tokens([wrong]),
    }.items():
        with pytest.raises(HraError, match=rf"^{name} must be a"):
            call()
    with pytest.raises(HraError, match=r"^contexts must be a"):
        allocator.tokens_batch(wrong, 4)


_MAP = np.ones((4, 4))
_MISTAKES: dict[str, Callable[[Any], Any]] = {
    "attention": lambda wrong: tokens.AttentionMapRelevance(wrong),
    "name": lambda wrong: tokens.relevance_named(wrong),
    "allocation": lambda wrong: tokens.allocate_folder(".", "out", wrong),
    "source": lambda wrong: tokens.StreamedImage.read(wrong),
    "overview": lambda wrong: tokens.hired_budgets(_MAP, (2, 2), 8, overview=wrong),
    "cells": lambda wrong: tokens.hired_budgets(_MAP, (2, 2), 8, cells=wrong),
    "tokens": lambda wrong: tokens.coverage(wrong, wrong),
    "tokens of cells": lambda wrong: tokens.empty_cells(wrong),
    "context": lambda wrong: tokens.explained(wrong, _MAP),
}


@pytest.mark.parametrize("wrong", [_MAP, [], {}, float("nan"), -1], ids=lambda wrong: type(wrong).__name__)
@pytest.mark.parametrize("argument", _MISTAKES)
def test_things_of_another_kind_are_refused_by_name(argument, wrong):
    with pytest.raises(HraError) as caught:
        _MISTAKES[argument](wrong)
    assert caught.value.where == argument.split()[0] and caught.value.fix
