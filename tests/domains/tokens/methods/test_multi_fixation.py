"""Several fixations: the order of looking, when it ends, and that nothing is encoded twice."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import tokens
from hra.domains.tokens.methods.multi_fixation import (
    LayeredBuilder,
    MultiFixation,
    look_at_centre,
    look_at_gaps,
    look_at_target,
)
from hra.errors import ArrayError, MetricError


def unsure(context: tokens.TokenContext, seen: tokens.TokenSet) -> float:
    return 0.0


def sure(context: tokens.TokenContext, seen: tokens.TokenSet) -> float:
    return 1.0


@given(st.integers(1, 200), st.integers(1, 200), st.integers(1, 80))
def test_the_budget_is_split_exactly_and_nothing_is_dropped(height, width, budget):
    image = np.random.default_rng(width).random((height, width, 3), dtype=np.float32)
    allocator = MultiFixation(patch=8, confidence=unsure)
    context = allocator.context(image, "left")
    steps = allocator.look(context, budget)
    spent = [step.cost for step in steps]
    if budget >= context.pyramid.offsets[1]:  # the whole image, at a glance
        assert spent == [context.pyramid.offsets[1]]
        return
    assert len(steps) == 3 and spent[-1] == budget
    assert np.ptp(np.diff([1, *spent])) <= 1
    for before, after in pairwise(steps):
        assert np.isin(before.cut, after.cut).all()
    assert np.array_equal(allocator.allocate(context, budget).cut, steps[-1].cut)


@given(st.integers(1, 200), st.integers(1, 200), st.integers(1, 80), st.integers(1, 4))
def test_no_pixels_are_encoded_at_two_levels_because_of_the_border(height, width, budget, levels):
    image = np.random.default_rng(width).random((height, width, 3), dtype=np.float32)
    allocator = MultiFixation(patch=8, levels=levels, confidence=unsure)
    context = allocator.context(image, "left")
    hierarchy = context.hierarchy(allocator.builder)
    chosen = allocator.realize(allocator.allocate(context, max(budget, int(hierarchy.base_cost))))
    assert len(np.unique(chosen.boxes, axis=0)) == len(chosen)
    every = allocator.builder.tokens(context, hierarchy, np.arange(int(hierarchy.total_cost)))
    assert len(np.unique(every.boxes, axis=0)) == len(every)  # and no pixels are lost: all finest patches are there
    assert (every.levels == 0).sum() == context.pyramid.offsets[1]


def test_what_a_patch_gains_at_the_border_counts_from_what_its_parent_showed():
    # 1 x 5 patches: those of levels 1 and 2 at the right end have one child, so the finest is a child of the root.
    image = np.random.default_rng(0).random((8, 40, 3), dtype=np.float32)
    context = MultiFixation(patch=8).context(image, "")
    hierarchy = LayeredBuilder().build(context)
    (end,) = np.flatnonzero((hierarchy.attribute("x") == 4) & (hierarchy.attribute("level") == 0))
    assert hierarchy.node_parent is not None and hierarchy.attribute("level")[hierarchy.node_parent[end]] == 3
    error = tokens.RelevanceError()
    at_root, before = context.node_errors[1], error.inherited(hierarchy, context)[end]
    assert before == at_root[context.pyramid.offsets[2] + 1] > error.evaluate(hierarchy, context)[end] == 0


def test_skimages_coins_are_encoded_once():
    from skimage import data

    allocator = MultiFixation()
    chosen = allocator.realize(allocator.allocate((np.repeat(data.coins()[..., None], 3, axis=2), ""), 64))
    assert len(np.unique(chosen.boxes, axis=0)) == len(chosen) == 64


def test_a_confident_model_looks_once_and_spends_all(smooth_noise):
    context = MultiFixation().context(smooth_noise(300, 300), "top left")
    steps = MultiFixation(confidence=sure).look(context, 90)
    assert len(steps) == 1 and steps[0].cost == 90
    single = MultiFixation(fixations=(look_at_centre,)).look(context, 90)
    assert len(single) == 1 and single[0].cost == 90


def test_confidence_is_asked_before_each_further_fixation(smooth_noise):
    asked = []

    def confidence(context: tokens.TokenContext, seen: tokens.TokenSet) -> float:
        asked.append(len(seen))
        return 0.4 * len(asked)

    steps = MultiFixation(confidence=confidence, threshold=0.7).look((smooth_noise(300, 300), ""), 91)
    assert asked == [31, 61] and len(steps) == 2 and steps[-1].cost == 91


def test_easy_images_are_seen_at_a_glance_and_hard_ones_are_not():
    noise = np.random.default_rng(0).random((512, 512, 3), dtype=np.float32)
    smooth = np.repeat(np.linspace(0, 1, 512, dtype=np.float32)[None, :, None], 3, axis=2).repeat(512, axis=0)
    detail = np.full((512, 512, 3), 0.5, np.float32)
    detail[64:128, 400:460] = noise[:64, :60]
    looks = {
        name: len(MultiFixation().look((image, ""), 60))
        for name, image in {
            "flat": np.full_like(noise, 0.5),
            "smooth": smooth,
            "detail": detail,
            "noise": noise,
        }.items()
    }
    assert looks == {"flat": 1, "smooth": 1, "detail": 2, "noise": 3}


def test_the_default_confidence_depends_on_the_tokens_taken(smooth_noise):
    allocator = MultiFixation(threshold=1.0)
    context = allocator.context(smooth_noise(400, 400), "")
    shown = [tokens.ShownConfidence()(context, allocator.realize(step)) for step in allocator.look(context, 300)]
    assert 0 <= shown[0] < shown[1] < shown[2] < 1
    everything = tokens.GridTopK()
    whole = everything.realize(everything.allocate(context, 10_000))
    assert tokens.ShownConfidence()(context, whole) == 1


def test_the_three_look_where_they_say(smooth_noise):
    scores = np.ones((32, 32))
    scores[4:6, 24:26] = 2
    allocator = MultiFixation(lambda context: scores, confidence=unsure)
    context = allocator.context(smooth_noise(512, 512), "")
    first, second, _ = (allocator.realize(step) for step in allocator.look(context, 120))
    assert look_at_centre(context, first) == (256, 256)
    assert look_at_target(context, first) == (400, 80)
    fine = second.places[second.places[:, 0] == 0]
    assert (np.abs(fine[:, 1:] - [25, 5]) <= 4).all(axis=1).any()
    x, y = look_at_gaps(context, second)
    assert second.shown_detail()[int(y), int(x)] == second.shown_detail().max()


def test_tokens_keep_the_relevance_of_the_context(smooth_noise):
    allocator = MultiFixation(tokens.UniformRelevance())
    token_set = allocator.realize(allocator.allocate((smooth_noise(200, 200), ""), 50))
    assert token_set.relevance == pytest.approx(1)


def test_no_certificate_covers_several_fixations(smooth_noise):
    assert MultiFixation().allocate((smooth_noise(100, 100), ""), 20).status == "heuristic"


@pytest.mark.parametrize("options", [{"fixations": ()}, {"threshold": 1.5}, {"threshold": float("nan")}])
def test_bad_options_are_refused(options: dict[str, Any]):
    with pytest.raises(ArrayError):
        MultiFixation(**options)


def test_a_bad_confidence_is_refused(smooth_noise):
    allocator = MultiFixation(confidence=lambda context, seen: 7.0)
    with pytest.raises(MetricError):
        allocator.allocate((smooth_noise(100, 100), ""), 20)
