"""Token clusters: grids whose borders differ from level to level, and the graph over them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import tokens
from hra.domains.tokens.methods.cluster_builder import ClusterBuilder, cluster_grids
from hra.errors import ArrayError
from hra.kernels import level_errors

KINDS = [(2, True), (4, True), (4, False)]
kinds = pytest.mark.parametrize(("cluster", "staggered"), KINDS)


def noise(height: int, width: int) -> np.ndarray:
    return np.random.default_rng(height * width).random((height, width, 3), dtype=np.float32)


def inner_borders(boxes: np.ndarray, extent: int, axis: int) -> set[int]:
    return set(boxes[:, axis].tolist()) - {0, extent}


@pytest.mark.parametrize("cluster", [2, 4])
@pytest.mark.parametrize("size", [(1024, 1024), (333, 700)])
def test_staggered_borders_differ_from_one_level_to_the_next(cluster, size):
    grids = cluster_grids(tokens.PatchPyramid.build(np.zeros((*size, 3), np.float32)), cluster, staggered=True)
    assert len(grids) >= 3 and grids[-1].counts == (1, 1)
    for fine, coarse in pairwise(grids):
        for axis in (0, 1):
            common = inner_borders(fine.boxes, size[1 - axis], axis) & inner_borders(coarse.boxes, size[1 - axis], axis)
            assert not common, (fine.level, coarse.level)
    aligned = cluster_grids(tokens.PatchPyramid.build(np.zeros((*size, 3), np.float32)), cluster, staggered=False)
    assert inner_borders(aligned[1].boxes, size[1], 0) <= inner_borders(aligned[0].boxes, size[1], 0)


def test_clusters_of_4_x_4_are_256_of_4096():
    grids = cluster_grids(tokens.PatchPyramid.build(np.zeros((1024, 1024, 3), np.float32)), 4, staggered=False)
    assert [int(np.prod(grid.counts)) for grid in grids] == [4096, 256, 16, 1]


@given(st.integers(1, 150), st.integers(1, 150), st.sampled_from(KINDS), st.sampled_from([4, 8]))
def test_any_cut_shows_every_pixel_and_any_count_is_met(height, width, kind, patch):
    allocator = tokens.TokenDAG(cluster=kind[0], staggered=kind[1], patch=patch)
    context = allocator.context(noise(height, width), "")
    hierarchy = allocator.hierarchy_for(context)
    finest = int(context.pyramid.offsets[1])
    assert hierarchy.total_cost == finest
    for budget in (int(hierarchy.base_cost), max(finest // 3, int(hierarchy.base_cost)), finest):
        allocation = allocator.allocate(context, budget)
        chosen = allocator.realize(allocation)
        assert len(chosen) == allocation.cost == budget
        assert (chosen.token_map() >= 0).all()
        if budget == finest:
            assert np.allclose(allocation.residual, 0, atol=1e-9) and (chosen.levels == 0).all()


@kinds
def test_a_token_is_there_before_those_over_it_and_leaves_when_they_cover_it(cluster, staggered):
    context = tokens.TokenDAG(patch=8).context(noise(150, 210), "")
    builder = ClusterBuilder(cluster, staggered)
    hierarchy = builder.build(context)
    grids = cluster_grids(context.pyramid, cluster, staggered=staggered)
    first = np.cumsum([0] + [len(grid.corners) for grid in grids])
    added, removed = hierarchy.added_by, hierarchy.removed_by
    before = {tuple(edge) for edge in hierarchy.edges.tolist()}
    for fine, coarse, begin, above in zip(grids[:-1], grids[1:], first[:-2], first[1:-1], strict=True):
        for cell, (x0, y0, x1, y1) in enumerate(coarse.boxes.tolist(), start=int(above)):
            low, high = np.maximum(fine.boxes[:, :2], (x0, y0)), np.minimum(fine.boxes[:, 2:], (x1, y1))
            over = np.flatnonzero((low < high).all(axis=1)) + begin
            assert removed[cell] in added[over]
            for token in over:
                assert added[cell] < 0 or (added[cell], added[token]) in before
                assert added[token] == removed[cell] or (added[token], removed[cell]) in before


@kinds
def test_gains_are_the_error_that_goes(smooth_noise, cluster, staggered):
    image = smooth_noise(256, 320)
    allocator = tokens.TokenDAG(tokens.UniformRelevance(), cluster=cluster, staggered=staggered)
    allocation = allocator.allocate((image, ""), 100)
    shown = allocator.realize(allocation).shown_detail()
    errors = allocation.context.pyramid.errors_by_level
    assert allocation.base_error == pytest.approx(errors[-1].sum() / image.size, rel=1e-2)
    unit = 8 if staggered else 16
    every = level_errors(allocation.context.pyramid.mips, unit)
    blocks = shown.reshape(256 // unit, unit, 320 // unit, unit).max(axis=(1, 3)).astype(int)
    left = np.take_along_axis(every, blocks[None], axis=0).sum() / image.size
    assert allocation.residual == pytest.approx(left, rel=1e-9)
    assert allocation.status in ("optimal", "certified")


def test_tokens_are_the_pixels_of_their_level(smooth_noise):
    image = smooth_noise(256, 256)
    allocator = tokens.TokenDAG(cluster=2, staggered=True)
    allocation = allocator.allocate((image, ""), 60)
    chosen, pyramid = allocator.realize(allocation), allocation.context.pyramid
    assert isinstance(chosen, tokens.SampledTokens)
    for value, point, level in zip(chosen.values, chosen.points, chosen.levels, strict=True):
        x, y = ((point - 8 * 2**level) / 2**level).astype(int)
        pixels = pyramid.levels[level]
        if x >= 0 and y >= 0 and x + 16 <= pixels.shape[1] and y + 16 <= pixels.shape[0]:
            np.testing.assert_allclose(value.reshape(16, 16, 3), pixels[y : y + 16, x : x + 16], atol=1e-6)


def test_what_cannot_be_staggered_or_clustered_is_refused():
    with pytest.raises(ArrayError, match="staggered"):
        tokens.TokenDAG(cluster=4, staggered=True, patch=14).allocate((noise(200, 200), ""), 30)
    assert tokens.TokenDAG(cluster=4, patch=14).allocate((noise(200, 200), ""), 30).cost == 30
    with pytest.raises(ArrayError, match="3 x 3"):
        tokens.TokenDAG(cluster=3)  # pyright: ignore[reportArgumentType]
