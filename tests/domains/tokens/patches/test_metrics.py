"""Errors of patches against a sum over pixels; gains of the flat grid."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.patches.builders import GridBuilder, PyramidBuilder
from hra.domains.tokens.patches.metrics import RelevanceError, RelevanceGain
from hra.domains.tokens.pyramid.pyramid import PatchPyramid
from hra.model.hierarchy import Hierarchy
from tests.helpers.refining import refine_to

SIZES = [(40, 70), (17, 16), (1, 1), (64, 64)]


def random_context(image: np.ndarray, seed: int = 0, patch: int = 8) -> TokenContext:
    generator = np.random.default_rng(seed)
    return TokenContext(
        PatchPyramid.build(image, patch=patch),
        "",
        lambda context: generator.random(context.grid),
    )


def weighted_pixel_errors(context: TokenContext) -> list[np.ndarray]:
    """Per level [H, W], relevance-weighted squared error of every pixel over the sum of weights; no vectorised sums."""
    pyramid = context.pyramid
    image, patch = pyramid.image.astype(np.float64), pyramid.patch
    relevance = context.relevance.repeat(patch, axis=0).repeat(patch, axis=1)[: image.shape[0], : image.shape[1]]
    shapes = [level.shape[:2] for level in pyramid.levels]
    maps = [np.zeros(relevance.shape)]
    for level in range(1, len(shapes)):
        shown = np.clip(refine_to(pyramid.levels[level], shapes[level - 1 :: -1]), 0, 1)
        plain = ((image - shown) ** 2).sum(axis=2)
        maps.append(plain * relevance / (3 * relevance.sum()))
        for y in range(0, image.shape[0], patch):
            for x in range(0, image.shape[1], patch):
                here = np.s_[y : y + patch, x : x + patch]
                if maps[level][here].sum() < maps[level - 1][here].sum():  # a coarser level counts at least as much
                    maps[level][here] = maps[level - 1][here]
    return maps


def box_sum(values: np.ndarray, box: np.ndarray) -> float:
    x0, y0, x1, y1 = box
    return float(values[y0:y1, x0:x1].sum())


@pytest.mark.parametrize("size", SIZES)
def test_errors_are_sums_over_pixels(smooth_noise, size):
    context = random_context(smooth_noise(*size))
    hierarchy, pyramid = PyramidBuilder().build(context), context.pyramid
    own, inherited = RelevanceError().evaluate(hierarchy, context), RelevanceError().inherited(hierarchy, context)
    maps, boxes = weighted_pixel_errors(context), pyramid.boxes(pyramid.positions)
    coarsest = len(maps) - 1
    for node, (level, _, _) in enumerate(pyramid.positions):
        assert own[node] == pytest.approx(box_sum(maps[level], boxes[node]), rel=1e-5, abs=1e-12)
        above = min(level + 1, coarsest)
        assert inherited[node] == pytest.approx(box_sum(maps[above], boxes[node]), rel=1e-5, abs=1e-12)


@pytest.mark.parametrize("size", SIZES)
def test_children_inherit_all_of_their_parents_error(smooth_noise, size):
    context = random_context(smooth_noise(*size))
    hierarchy = PyramidBuilder().build(context)
    own, inherited = RelevanceError().evaluate(hierarchy, context), RelevanceError().inherited(hierarchy, context)
    child = context.pyramid.parents >= 0
    passed_on = np.bincount(context.pyramid.parents[child], inherited[child], own.size)
    inner = np.bincount(context.pyramid.parents[child], minlength=own.size) > 0
    assert passed_on[inner] == pytest.approx(own[inner])
    assert (own <= inherited + 1e-15).all()  # never a finer level with more error
    assert (own[context.pyramid.positions[:, 0] == 0] == 0).all()


def test_a_lucky_coarse_level_gets_no_credit():
    # Black and white noise: two-pixel means overshoot more than four-pixel means.
    generator = np.random.default_rng(3)
    image = np.clip(0.5 + 0.2 * generator.choice([-1.0, 1.0], (64, 64, 1)).repeat(3, axis=2), 0, 1).astype(np.float32)
    errors = PatchPyramid.build(image, patch=2).errors_by_level
    for finer, coarser in pairwise(errors):
        assert (coarser >= finer).all()


def test_with_uniform_relevance_the_root_error_is_the_mean_squared_error(smooth_noise):
    image = smooth_noise(50, 70)
    context = TokenContext(PatchPyramid.build(image), "", lambda context: np.full((4, 5), 7.0))
    shapes = [level.shape[:2] for level in context.pyramid.levels]
    shown = np.clip(refine_to(context.pyramid.levels[-1], shapes[-2::-1]), 0, 1)
    assert context.node_errors[0][-1] == pytest.approx(np.mean((image - shown) ** 2), rel=1e-5)


@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 20))
def test_errors_do_not_depend_on_the_scale_of_relevance(height, width, seed):
    image = np.random.default_rng(seed).random((height, width, 3)).astype(np.float32)
    pyramid = PatchPyramid.build(image, patch=8)
    scores = np.random.default_rng(seed + 1).random(pyramid.grids[0])
    first = TokenContext(pyramid, "", lambda context: scores)
    second = TokenContext(pyramid, "", lambda context: 1000 * scores)
    assert first.node_errors[0] == pytest.approx(second.node_errors[0])


def test_metrics_follow_the_attributes_of_any_hierarchy(smooth_noise):
    context = random_context(smooth_noise(40, 40))
    positions = context.pyramid.positions[[7, 2, -1]]
    attributes = {"level": positions[:, 0], "x": positions[:, 1], "y": positions[:, 2]}
    some = Hierarchy.flat(np.ones(3), attributes=attributes, cost_unit="tokens")
    assert np.array_equal(RelevanceError().evaluate(some, context), context.node_errors[0][[7, 2, -1]])


def test_the_grid_gains_its_relevance(smooth_noise):
    context = random_context(smooth_noise(40, 70))
    gain = RelevanceGain().evaluate(GridBuilder().build(context), context)
    assert np.array_equal(gain, context.relevance.ravel())
