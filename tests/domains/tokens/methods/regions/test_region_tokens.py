"""Region tokens: their pixels, their errors, and the grid as the degenerate atlas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import tokens
from hra.domains.tokens import SemanticTree
from hra.domains.tokens.methods.regions import GridRegions, Linkage, PatchRegions, RegionTokens, RegionTreeBuilder
from hra.domains.tokens.methods.regions.region_builders import region_errors

LINKAGES = list(Linkage)


def plain_values(image: np.ndarray, mask: np.ndarray, patch: int) -> np.ndarray:
    """Bin means of one region, by slicing the coordinates of its pixels."""
    y, x = np.nonzero(mask)
    bins = [(place - place.min()) * patch // max(int(np.ptp(place)) + 1, patch) for place in (y, x)]
    values = np.broadcast_to(image[mask].mean(axis=0), (patch, patch, 3)).copy()
    for row in range(patch):
        for column in range(patch):
            here = (bins[0] == row) & (bins[1] == column)
            if here.any():
                values[row, column] = image[y[here], x[here]].mean(axis=0)
    return values


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 5), st.sampled_from([2, 4, 8]), st.integers(0, 9))
def test_values_are_bin_means_and_painting_them_shows_them(context_of, height, width, count, patch, seed):
    labels = np.random.default_rng(seed).integers(-1, count, (height, width)).astype(np.int32)
    labels[0, 0] = 0
    _, ranks = np.unique(labels[labels >= 0], return_inverse=True)  # without gaps
    labels[labels >= 0] = ranks
    context = context_of(height, width, patch=patch)
    region_tokens = RegionTokens.of(context, labels, int(labels.max()) + 1)
    image, shown = context.pyramid.image, region_tokens.reconstruct()
    for token in range(len(region_tokens)):
        values = plain_values(image, labels == token, patch)
        assert region_tokens.values[token].reshape(values.shape) == pytest.approx(values, abs=1e-5)
    empty = labels < 0
    assert shown[empty] == pytest.approx(np.full((empty.sum(), 3), region_tokens.values.mean()), abs=1e-5)
    x0, y0, x1, y1 = region_tokens.boxes.T
    assert (region_tokens.token_map() == labels).all() and (x0 < x1).all() and (y0 < y1).all()


@pytest.mark.parametrize("linkage", LINKAGES)
def test_the_error_of_a_node_is_that_of_its_painting(context_of, linkage):
    relevance = np.random.default_rng(0).random((7, 8))
    context = context_of(100, 120, relevance=relevance)
    tree, image = PatchRegions(linkage).build(context), context.pyramid.image
    errors = region_errors(tree, image, context.pixel_weight, 16)
    weight = np.kron(context.pixel_weight, np.ones((16, 16)))[:100, :120, None]
    plain = np.empty(len(tree))
    for node in range(len(tree)):
        labels = tree.shown(np.array([node]))
        shown = RegionTokens.of(context, labels, 1).reconstruct()
        plain[node] = (weight * (image - shown) ** 2)[labels == 0].sum()
        if node >= tree.leaves:
            plain[node] = max(plain[node], plain[tree.merges[node - tree.leaves]].sum())
    assert errors == pytest.approx(plain, rel=1e-4, abs=1e-12)
    assert (errors[: tree.leaves] == 0).all()


def test_the_allocation_predicts_the_reconstruction(context_of):
    context = context_of(200, 240, relevance=np.random.default_rng(1).random((13, 15)))
    allocator = SemanticTree()
    allocation = allocator.allocate(context, 60)
    shown = allocator.realize(allocation).reconstruct()
    weight = np.kron(context.pixel_weight, np.ones((16, 16)))[:200, :240, None]
    error = (weight * (shown - context.pyramid.image) ** 2).sum()
    # A region counts at least the errors of its parts, so that the residual is never less than what is shown.
    assert 0.95 * allocation.residual < error <= allocation.residual * (1 + 1e-6)
    assert allocation.gain <= allocation.upper_bound * (1 + 1e-12)


@given(st.integers(1, 70), st.integers(1, 70), st.sampled_from([8, 16]))
def test_the_finest_grid_regions_are_the_patches(context_of, height, width, patch):
    context = context_of(height, width, patch=patch)
    builder = RegionTreeBuilder(GridRegions())
    hierarchy = builder.build(context)
    leaves = np.arange(builder.source.tree(context).leaves)
    regions = builder.tokens(context, hierarchy, leaves)
    grid = tokens.GridBuilder()
    patches = grid.tokens(context, grid.build(context), leaves)
    assert np.array_equal(regions.boxes, patches.boxes)
    assert np.array_equal(regions.token_map(), patches.token_map())
    assert regions.relevance == pytest.approx(patches.relevance)
    assert np.array_equal(regions.reconstruct(), patches.reconstruct())
    whole = (patches.boxes[:, 2:] - patches.boxes[:, :2] == patch).all(axis=1)
    assert np.array_equal(regions.values[whole], patches.values[whole])


def test_grid_regions_of_every_level_are_the_patches_of_the_pyramid(context_of):
    context = context_of(128, 128)
    pyramid = tokens.PatchPyramid.build(context.pyramid.image)
    for level, side in enumerate((8, 4, 2, 1)):
        labels = GridRegions().tree(context).cut(side * side)
        regions = RegionTokens.of(context, labels, side * side)
        here = pyramid.positions[:, 0] == level
        order = np.lexsort((regions.boxes[:, 0], regions.boxes[:, 1]))
        np.testing.assert_allclose(regions.values[order], pyramid.values(pyramid.positions[here]), rtol=0, atol=1e-5)
        assert regions.detail == pytest.approx(np.full(side * side, level))


def test_tokens_pool_any_features(context_of):
    context = context_of(64, 48, encoder=lambda image: np.ones((4, 3, 5), np.float32))
    allocator = SemanticTree()
    region_tokens = allocator.realize(allocator.allocate(context, 6))
    assert region_tokens.pool(context.features).tolist() == [[1.0] * 5] * 6


def test_an_encoder_decides_what_is_merged(context_of):
    sides = np.zeros((4, 4, 8), np.float32)
    sides[:, 2:] = 1
    context = context_of(64, 64, encoder=lambda image: sides)
    for linkage in (Linkage.WARD, Linkage.AVERAGE):
        labels = PatchRegions(linkage).build(context).cut(2)
        assert (labels[:, :32] != labels[:, 32:]).all()
