"""The atlas presets: exact counts at every size, how tokens are dealt out, and what they refuse."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import tokens
from hra.domains.tokens import HybridAtlas, SemanticAtlas, SemanticTree
from hra.domains.tokens.methods.regions import GridRegions, Linkage, MaskRegions, PatchRegions, importance
from hra.errors import HraError, ImageError, MetricError
from tests.helpers.noise import noise

BUDGETS = [1, 16, 64, 137, 150, 273, 529]
SIZES = [(1, 1), (37, 500), (333, 257), (512, 384)]
PRESETS = {
    "tree": SemanticTree,
    "tree by colour": partial(SemanticTree, PatchRegions(Linkage.COLOUR)),
    "tree by average linkage": partial(SemanticTree, PatchRegions(Linkage.AVERAGE)),
    "grid": partial(SemanticTree, GridRegions()),
    "proportional": SemanticAtlas,
    "fixed": partial(SemanticAtlas, allocation="fixed"),
    "tiers": partial(SemanticAtlas, allocation="tiers"),
    "hybrid": HybridAtlas,
    "hybrid by image": partial(HybridAtlas, "image"),
}
every_preset = pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)


def patches(height: int, width: int, patch: int = 16) -> int:
    return -(-height // patch) * -(-width // patch)


@every_preset
@pytest.mark.parametrize("size", SIZES)
def test_exactly_the_budget_or_the_whole_image(smooth_noise, preset, size):
    allocator = preset()
    context = allocator.context(smooth_noise(*size), "what is on the left?")
    for budget in BUDGETS:
        allocation = allocator.allocate(context, budget)
        token_set = allocator.realize(allocation)
        assert len(token_set) == allocation.cost == min(budget, patches(*size))
        assert np.setdiff1d(np.arange(len(token_set)), token_set.token_map()).size == 0


@given(st.integers(1, 150), st.integers(1, 150), st.integers(1, 60), st.sampled_from(list(PRESETS)))
def test_counts_are_exact_at_any_size(height, width, budget, name):
    allocator = PRESETS[name](patch=8)
    allocation = allocator.allocate((noise(height, width), "bottom"), budget)
    assert allocation.cost == min(budget, patches(height, width, 8))
    assert allocator.realize(allocation).values.shape == (allocation.cost, 192)


@every_preset
def test_the_same_input_gives_the_same_tokens(smooth_noise, preset):
    image = smooth_noise(200, 150)
    maps = []
    for _ in range(2):
        allocator = preset()
        maps.append(allocator.realize(allocator.allocate((image, "the total"), 40)).token_map())
    assert np.array_equal(*maps)


@every_preset
@pytest.mark.parametrize("image", [np.full((160, 160, 3), 0.5, np.float32), np.zeros((160, 160, 3), np.uint8)])
def test_constant_images_are_exact(preset, image):
    allocator = preset(relevance=tokens.UniformRelevance())
    token_set = allocator.realize(allocator.allocate((image, ""), 37))
    assert len(token_set) == 37
    np.testing.assert_allclose(token_set.reconstruct(), np.full(image.shape, image.flat[0]), rtol=0, atol=1e-6)


@every_preset
@pytest.mark.parametrize("scores", [np.zeros((2, 2)), -np.ones((2, 2)), [[-1, 0], [0, 5]]])
def test_zero_and_negative_relevance_still_give_the_exact_count(preset, scores):
    allocator = preset(relevance=lambda context: scores)
    assert allocator.allocate((noise(32, 32), ""), 3).cost == 3


@every_preset
@pytest.mark.parametrize("scores", [np.full((2, 2), np.nan), np.ones((2, 2, 3)), [["a", "b"], ["c", "d"]]])
def test_bad_relevance_is_refused(preset, scores):
    with pytest.raises(MetricError):
        preset(relevance=lambda context: scores).allocate((np.zeros((32, 32, 3)), ""), 3)


@every_preset
def test_bad_images_and_budgets_are_refused(preset):
    with pytest.raises(ImageError):
        preset().allocate((np.full((32, 32, 3), np.nan), ""), 5)
    with pytest.raises(HraError):
        preset().allocate((np.zeros((32, 32, 3)), ""), -1)


@pytest.mark.parametrize(("regions", "each", "more"), [(91, 3, 0), (54, 5, 3), (136, 2, 1), (273, 1, 0)])
def test_fixed_numbers_of_tokens(smooth_noise, regions, each, more):
    uniform = tokens.UniformRelevance()
    # No region of Ward's tree need hold as many patches as it would get; those of a grid of 512 do.
    allocator = SemanticAtlas(GridRegions(), uniform, allocation="fixed", regions=regions, per_region=each, patch=8)
    allocation = allocator.allocate((smooth_noise(512, 512), ""), 273)
    counts = np.bincount(allocation.hierarchy.attribute("stratum")[allocation.cut], minlength=regions)
    assert counts.sum() == 273
    assert np.bincount(counts - each, minlength=2).tolist() == [regions - more, more]


def test_tiers_give_the_important_more(smooth_noise):
    allocator = SemanticAtlas(GridRegions(), allocation="tiers", patch=8)
    allocation = allocator.allocate((smooth_noise(512, 512), ""), 272)
    hierarchy = allocation.hierarchy
    stratum, worth = hierarchy.attribute("stratum"), hierarchy.attribute("importance")
    counts = np.bincount(stratum[allocation.cut], minlength=54)
    by_importance = counts[np.argsort(-worth[np.unique(stratum, return_index=True)[1]], kind="stable")]
    assert by_importance.tolist() == [15] * 11 + [5] * 16 + [1] * 27


def test_proportional_tokens_follow_importance(smooth_noise):
    scores = np.full((32, 32), 0.1)
    scores[:, :8] = 1
    constant = np.full((512, 512, 3), 0.5, np.float32)
    allocator = SemanticAtlas(GridRegions(), lambda context: scores, regions=4)
    allocation = allocator.allocate((constant, ""), 220)
    counts = np.bincount(allocation.hierarchy.attribute("stratum")[allocation.cut])
    # Two quarters with 0.6 x 0.55 and two with 0.6 x 0.1; each gets 1 before the other 216 are shared: 91.4 and 16.6.
    assert sorted(counts.tolist()) == [18, 18, 92, 92]


@every_preset
def test_no_error_needs_repair(smooth_noise, preset):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        preset().allocate((smooth_noise(100, 120), ""), 20)


@pytest.mark.parametrize("arguments", [{"allocation": "even"}, {"regions": 0}, {"per_region": 0}])
def test_atlases_that_make_no_sense_are_refused(arguments):
    with pytest.raises(HraError):
        SemanticAtlas(**arguments)


def test_91_of_150_masks_are_kept_and_none_merged(smooth_noise):
    image = smooth_noise(320, 480)
    masks = np.arange(150).reshape(10, 15).repeat(32, axis=0).repeat(32, axis=1) + 1
    worth = np.random.default_rng(0).permutation(150) + 1.0

    def relevance(context):
        return worth.reshape(10, 15).repeat(2, axis=0).repeat(2, axis=1)

    atlas = tokens.SemanticAtlas(MaskRegions(masks), relevance, allocation="fixed")
    context = atlas.context(image, "")
    chosen = atlas.realize(atlas.allocate(context, 273))
    seen = [np.unique(masks[chosen.labels == token]) for token in range(273)]
    assert all(len(one) == 1 for one in seen)  # no token over two masks
    kept, counts = np.unique(np.concatenate(seen), return_counts=True)
    assert len(kept) == 91 and (counts == 3).all()
    importances = importance(context).reshape(10, 2, 15, 2).mean(axis=(1, 3)).ravel()
    assert set(kept - 1) == set(np.argsort(-importances)[:91])


def test_fewer_masks_than_regions_are_divided(smooth_noise):
    masks = np.arange(4).reshape(2, 2).repeat(96, axis=0).repeat(96, axis=1) + 1
    atlas = tokens.SemanticAtlas(MaskRegions(masks), allocation="fixed", regions=20)
    chosen = atlas.realize(atlas.allocate((smooth_noise(192, 192), ""), 60))
    assert len(chosen) == 60 and all(len(np.unique(masks[chosen.labels == token])) == 1 for token in range(60))
