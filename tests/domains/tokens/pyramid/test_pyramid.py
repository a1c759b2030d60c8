"""The patch pyramid: numbering, parents, boxes and values against independent slicing."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.pyramid.blocks import block_means
from hra.domains.tokens.pyramid.interpolation import halve
from hra.domains.tokens.pyramid.pyramid import PatchPyramid
from hra.errors import ArrayError

SIZES = [(1, 1), (16, 16), (17, 33), (100, 60), (1, 300), (47, 128)]


def plain_value(pyramid: PatchPyramid, level: int, x: int, y: int) -> np.ndarray:
    """A patch by clamped single-pixel look-ups."""
    pixels, patch = pyramid.levels[level], pyramid.patch
    rows = np.minimum(np.arange(y * patch, (y + 1) * patch), pixels.shape[0] - 1)
    columns = np.minimum(np.arange(x * patch, (x + 1) * patch), pixels.shape[1] - 1)
    return pixels[np.ix_(rows, columns)].reshape(-1)


@pytest.mark.parametrize("size", SIZES)
def test_values_are_the_pixels_of_each_level(smooth_noise, size):
    pyramid = PatchPyramid.build(smooth_noise(*size))
    values = pyramid.values(pyramid.positions)
    assert values.shape == (pyramid.offsets[-1], 768) and values.dtype == np.float32
    for value, (level, x, y) in zip(values, pyramid.positions, strict=True):
        assert np.array_equal(value, plain_value(pyramid, level, x, y))


@pytest.mark.parametrize("size", SIZES)
def test_patches_of_a_level_tile_the_image(smooth_noise, size):
    pyramid = PatchPyramid.build(smooth_noise(*size))
    for level in range(len(pyramid.levels)):
        covered = np.zeros(size, int)
        for x0, y0, x1, y1 in pyramid.boxes(pyramid.positions[pyramid.positions[:, 0] == level]):
            assert x0 < x1 and y0 < y1  # nothing lies wholly in the padding
            covered[y0:y1, x0:x1] += 1
        assert (covered == 1).all()


@given(st.integers(1, 200), st.integers(1, 200), st.sampled_from([2, 8, 16]))
def test_children_lie_in_their_parent(height, width, patch):
    pyramid = PatchPyramid.build(np.zeros((height, width, 3), np.float32), patch=patch)
    parents, boxes, level = pyramid.parents, pyramid.boxes(pyramid.positions), pyramid.positions[:, 0]
    child = np.flatnonzero(parents >= 0)
    above = parents[child]
    assert (level[above] == level[child] + 1).all()
    assert (boxes[child, :2] >= boxes[above, :2]).all() and (boxes[child, 2:] <= boxes[above, 2:]).all()
    assert np.flatnonzero(parents < 0).tolist() == [pyramid.offsets[-1] - 1]  # one root, the last patch


def test_four_levels_of_a_kilopixel_square():
    pyramid = PatchPyramid.build(np.zeros((1024, 1024, 3), np.uint8), levels=4)
    assert np.diff(pyramid.offsets).tolist() == [4096, 1024, 256, 64]


def test_a_coarser_level_is_the_mean_of_its_block(smooth_noise):
    image = smooth_noise(64, 96)
    pyramid = PatchPyramid.build(image)
    assert pyramid.levels[2][3, 5] == pytest.approx(image[12:16, 20:24].mean(axis=(0, 1)), abs=1e-6)


def test_a_long_strip_does_not_grow_with_its_padding():
    pyramid = PatchPyramid.build(np.zeros((20000, 1, 3), np.float32))
    assert len(pyramid.levels) == 12
    assert sum(level.size for level in pyramid.levels) < 3 * 20000 * 2.1


@pytest.mark.parametrize(("patch", "levels"), [(0, None), (15, None), (-2, None), (16, 0)])
def test_bad_sizes_are_refused(patch, levels):
    with pytest.raises(ArrayError):
        PatchPyramid.build(np.zeros((8, 8, 3), np.float32), patch=patch, levels=levels)


@pytest.mark.parametrize("size", [*SIZES, (96, 160), (128, 64)])
@pytest.mark.parametrize("patch", [12, 16])
def test_patch_means_are_those_of_the_pixels_whatever_the_level_they_are_taken_from(smooth_noise, size, patch):
    image = smooth_noise(*size)
    means = PatchPyramid.build(image, patch=patch).patch_means
    assert np.allclose(means, block_means(image, patch), atol=1e-6)


@pytest.mark.parametrize("size", [(64, 96), (96, 36), (33, 64)])
def test_levels_are_halvings_of_each_other_and_copies_of_the_image(smooth_noise, size):
    image = smooth_noise(*size)
    pyramid = PatchPyramid.build(image)
    assert not any(np.shares_memory(level, image) for level in pyramid.levels)
    for finer, coarser in pairwise(pyramid.levels):
        assert np.array_equal(coarser, halve(finer))
