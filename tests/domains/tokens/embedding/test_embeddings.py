"""Embeddings: selected, pooled and encoded, for tokens of every kind."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hra.domains import tokens
from hra.errors import ArrayError
from tests.helpers.embeddings_cases import chosen_by, patch_means

SIZES = {"multiple": (96, 128), "odd": (100, 230)}
BANDS = ("frequency-aware", "residual-scales")
SHAPES = [name for name in tokens.PRESETS if name not in BANDS]


def dense_pool(chosen: tokens.TokenSet, features: np.ndarray) -> np.ndarray:
    """Pooling by a picture of the features at one value per pixel; for regions of whole pixels and cells of such."""
    height, width = chosen.image_size
    rows, columns, channels = features.shape
    y, x = np.arange(height) * rows // height, np.arange(width) * columns // width
    picture = features.astype(np.float64)[y[:, None], x]
    if isinstance(chosen, tokens.RegionTokens):
        return np.array([picture[chosen.labels == k].mean(axis=0) for k in range(len(chosen))])
    return np.array([picture[y0:y1, x0:x1].reshape(-1, channels).mean(axis=0) for x0, y0, x1, y1 in chosen.boxes])


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("grid", [(6, 8), (7, 15), (5, 3), (24, 24), (1, 1)])
def test_pooling_equal_features_changes_nothing(smooth_noise, name, size, grid):
    chosen = chosen_by(name, smooth_noise(*size))
    vector = np.random.default_rng(0).normal(size=7).astype(np.float32)
    assert (chosen.pool(np.broadcast_to(vector, (*grid, 7))) == vector).all()
    assert (chosen.encode(lambda image: np.broadcast_to(vector, (*grid, 7)), smooth_noise(*size)) == vector).all()


@pytest.mark.parametrize("name", ["grid", "pyramid", "token-dag", "semantic-tree", "semantic-atlas", "downsample"])
@pytest.mark.parametrize("grid", [(6, 8), (3, 4), (12, 16), (32, 2)])
def test_pooling_is_the_mean_over_the_pixels_of_the_region(smooth_noise, name, grid):
    chosen = chosen_by(name, smooth_noise(96, 128))
    features = np.random.default_rng(1).normal(size=(*grid, 5)).astype(np.float32)
    np.testing.assert_allclose(chosen.pool(features), dense_pool(chosen, features), atol=1e-5)


def test_squares_of_samples_are_pooled_between_pixels():
    samples = tokens.SampledTokens(
        np.zeros((2, 12), np.float32), np.array([[3.0, 2.0], [7.5, 4.0]]), np.array([1.5, 2.0]), np.ones(2), (8, 8), 2
    )
    ramp = np.broadcast_to(np.arange(4.0)[None, :, None], (4, 4, 1))  # cells of 2 x 2 pixels
    # The first square reaches from 1.5 to 4.5, the second from 5.5 to the border at 8.
    expected = [(0.5 * 0 + 2 * 1 + 0.5 * 2) / 3, (0.5 * 2 + 2 * 3) / 2.5]
    assert samples.pool(ramp)[:, 0] == pytest.approx(expected)


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_all_finest_patches_give_back_what_the_encoder_returned(smooth_noise, size):
    image, allocator = smooth_noise(*size), tokens.GridTopK()
    context = allocator.context(image, "")
    chosen = allocator.realize(allocator.allocate(context, 10_000))
    output = np.random.default_rng(0).normal(size=(*context.pyramid.grids[0], 9)).astype(np.float32)
    whole = output.reshape(-1, 9)
    for features in (output, lambda image: output, whole):
        grid = context.pyramid.grids[0] if features is whole else None
        assert np.array_equal(chosen.select(features, image, grid=grid), whole)
        assert np.array_equal(chosen.pool(features, context, grid=grid), whole)
    assert np.array_equal(chosen.encode(lambda image: output, context), whole)


def test_a_cut_of_one_level_selects_the_cells_of_a_coarser_model(smooth_noise):
    allocator = tokens.PyramidSampling(levels=3)
    chosen = allocator.realize(allocator.allocate((smooth_noise(128, 192), ""), 6))  # the coarsest level alone
    features = np.arange(6 * 2.0).reshape(2, 3, 2)
    assert np.array_equal(chosen.select(features), features.reshape(6, 2))
    with pytest.raises(ArrayError, match="token 0 is not one cell of a grid of 8 x 12"):
        chosen.select(np.zeros((8, 12, 2)))
    with pytest.raises(ArrayError, match="not one cell"):
        chosen_by("log-polar", smooth_noise(96, 128)).select(np.zeros((6, 8, 2)))


@pytest.mark.parametrize("name", ["pyramid", "foveated", "pyramid-top-k", "multi-fixation", "token-dag"])
def test_patches_are_encoded_in_the_picture_of_their_level(smooth_noise, name):
    image = smooth_noise(100, 230)
    chosen, pyramid = chosen_by(name, image), tokens.PatchPyramid.build(image)
    assert isinstance(chosen, tokens.PatchTokens)
    expected = [patch_means(pyramid.levels[level])[y, x] for level, x, y in chosen.places]
    np.testing.assert_allclose(chosen.encode(patch_means, image), expected, atol=1e-6)


def test_every_level_is_encoded_once(smooth_noise):
    image, seen = smooth_noise(96, 128), []
    chosen = chosen_by("pyramid", image)
    chosen.encode(lambda picture: seen.append(picture.shape) or patch_means(picture), image)
    assert len(seen) == len(set(seen)) == len(np.unique(chosen.levels))


@pytest.mark.parametrize("name", ["log-polar", "vortex", "semantic-tree", "hybrid-atlas"])
def test_samples_and_regions_are_encoded_one_by_one(smooth_noise, name):
    chosen = chosen_by(name, smooth_noise(96, 128))
    expected = chosen.values.reshape(len(chosen), -1, 3).mean(axis=1)
    np.testing.assert_allclose(chosen.encode(patch_means), expected, atol=1e-5)


def test_the_base_of_a_gestalt_is_encoded_in_the_small_picture(smooth_noise):
    image = smooth_noise(96, 128)
    chosen = chosen_by("gestalt-saccades", image, 20)
    assert isinstance(chosen, tokens.GestaltTokens)
    found = chosen.encode(patch_means, image)
    np.testing.assert_allclose(found[:16], chosen.base.reshape(16, -1, 3).mean(axis=1), atol=1e-5)
    x, y = chosen.saccades.T
    np.testing.assert_allclose(found[16:], patch_means(image)[y, x], atol=1e-6)


def test_a_compressed_gestalt_compresses_features(smooth_noise):
    image = smooth_noise(128, 128)
    allocator = tokens.GestaltSaccades(gestalt=tokens.CompressedGestalt(4, 4))
    chosen = allocator.realize(allocator.allocate((image, ""), 18))
    means = patch_means(image).reshape(4, 2, 4, 2, 3).mean(axis=(1, 3))
    np.testing.assert_allclose(chosen.encode(patch_means, image)[:16], means.reshape(16, 3), atol=1e-5)


@pytest.mark.parametrize("name", BANDS)
def test_bands_are_refused_but_for_the_low_pass_rest(smooth_noise, name):
    chosen = chosen_by(name, smooth_noise(96, 128))
    assert isinstance(chosen, tokens.BandTokens)
    for refused in (chosen.pool, chosen.select):
        with pytest.raises(ArrayError, match="band-pass tokens are differences"):
            refused(np.zeros((6, 8, 2)))
    with pytest.raises(ArrayError, match="not pictures"):
        chosen.encode(patch_means)
    rest = chosen.places[:, 0] == chosen.places[:, 0].max()
    low = replace(chosen, values=chosen.values[rest], places=chosen.places[rest], relevance=chosen.relevance[rest])
    assert low.pool(np.ones((6, 8, 2))).tolist() == [[1, 1]] * int(rest.sum())


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_tensors_stay_tensors_with_their_gradient(smooth_noise, dtype):
    torch = pytest.importorskip("torch")
    chosen = chosen_by("pyramid", smooth_noise(100, 230))
    plain = np.random.default_rng(0).normal(size=(7, 15, 4)).astype(np.float32)
    features = torch.tensor(plain, dtype=getattr(torch, dtype), requires_grad=True)
    found = chosen.pool(features)
    assert found.dtype == features.dtype and found.shape == (40, 4)
    np.testing.assert_allclose(found.detach().float(), chosen.pool(plain), atol=1e-6 if "32" in dtype else 0.02)
    found.sum().backward()
    # Every token hands out a gradient of 1 in all.
    assert float(features.grad[..., 0].sum()) == pytest.approx(40, rel=0.02)


def test_selection_and_levels_keep_the_gradient(smooth_noise):
    torch = pytest.importorskip("torch")
    image, scale = smooth_noise(96, 128), torch.tensor(2.0, requires_grad=True)

    def encoder(picture):
        return torch.as_tensor(patch_means(picture)) * scale

    chosen = chosen_by("gestalt-saccades", image, 20)
    chosen.encode(encoder, image).sum().backward()
    expected = float(chosen.encode(patch_means, image).sum())
    assert float(scale.grad) == pytest.approx(expected, rel=1e-5)
    patches = chosen_by("grid", image)
    assert patches.select(torch.ones(6, 8, 3, requires_grad=True)).requires_grad


def test_an_encoder_needs_the_image_that_the_tokens_are_of(smooth_noise):
    chosen = chosen_by("pyramid", smooth_noise(96, 128))
    with pytest.raises(ArrayError, match="needs the image"):
        chosen.pool(patch_means)
    with pytest.raises(ArrayError, match="64 x 64 pixels, that of the tokens 96 x 128"):
        chosen.encode(patch_means, smooth_noise(64, 64))
