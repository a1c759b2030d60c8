"""Batches: relevance order, padding and mask, in NumPy and torch."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains.tokens.methods.pyramid_sampling import PyramidSampling
from hra.domains.tokens.token_sets.token_batch import batch_tokens
from hra.errors import ArrayError


def token_sets(smooth_noise, *counts: int, patch: int = 16) -> list:
    allocator = PyramidSampling(patch=patch)
    images = [smooth_noise(90 + 20 * seed, 130, seed) for seed in range(len(counts))]
    return [allocator.realize(allocator.allocate((image, ""), n)) for image, n in zip(images, counts, strict=True)]


def test_tokens_come_in_order_of_relevance_then_padding(smooth_noise):
    sets = token_sets(smooth_noise, 10, 25, 3)
    batch = batch_tokens(sets)
    assert batch.values.shape == (3, 25, 768) and batch.mask.sum(axis=1).tolist() == [10, 25, 3]
    for row, tokens in enumerate(sets):
        assert np.array_equal(batch.values[row, : len(tokens)], tokens.values[tokens.order])
        assert (np.diff(tokens.relevance[batch.order[row, : len(tokens)]]) <= 0).all()
        assert not batch.values[row, len(tokens) :].any() and (batch.order[row, len(tokens) :] == -1).all()


@pytest.mark.case(39)
def test_no_images_are_an_empty_batch():
    batch = batch_tokens([])
    assert batch.values.shape == (0, 0, 0) and batch.mask.shape == (0, 0) and batch.mask.dtype == bool


def test_different_widths_are_refused(smooth_noise):
    with pytest.raises(ArrayError, match="192 and 768"):
        batch_tokens(token_sets(smooth_noise, 5) + token_sets(smooth_noise, 5, patch=8))


def test_torch_tensors_hold_the_same(smooth_noise):
    torch = pytest.importorskip("torch")
    batch = batch_tokens(token_sets(smooth_noise, 4, 6))
    tensors = batch.torch()
    assert tensors.mask.dtype == torch.bool and tensors.order.dtype == torch.int64
    assert np.array_equal(tensors.values.numpy(), batch.values) and np.array_equal(tensors.mask.numpy(), batch.mask)


def test_what_is_known_of_the_tokens_comes_in_the_order_of_the_values(smooth_noise):
    sets = token_sets(smooth_noise, 10, 25, 3)
    batch = batch_tokens(sets, images=[4, 4, 7])
    for row, tokens in enumerate(sets):
        order, count = tokens.order, len(tokens)
        for name in ("boxes", "levels"):
            assert np.array_equal(getattr(batch, name)[row, :count], getattr(tokens, name)[order])
        assert np.allclose(batch.centres[row, :count], tokens.centres[order])
        assert np.allclose(batch.relevance[row, :count], tokens.relevance[order])
        for kind in ("centres", "level_xy", "boxes"):
            assert np.array_equal(batch.positions(kind)[row, :count], tokens.positions(kind)[order])
        assert np.isnan(batch.eccentricity[row, :count]).all() and not batch.angle[row, count:].any()
    assert batch.images[:, 0].tolist() == [4, 4, 7] and (batch.images[~batch.mask] == -1).all()


def test_embeddings_take_the_place_of_pixels(smooth_noise):
    torch = pytest.importorskip("torch")
    sets = token_sets(smooth_noise, 4, 6)
    features = [torch.rand(24, 24, 5, requires_grad=True) for _ in sets]
    batch = batch_tokens(sets, [one.pool(each) for one, each in zip(sets, features, strict=True)])
    assert batch.values.shape == (2, 6, 5) and batch.mask.dtype == torch.bool and batch.mask.sum() == 10
    assert batch.positions("centres", grid=(24, 24)).dtype == torch.float32
    batch.values[batch.mask].sum().backward()
    assert all(each.grad.sum().item() == pytest.approx(5 * len(one)) for one, each in zip(sets, features, strict=True))


def test_embeddings_of_other_tokens_are_refused(smooth_noise):
    sets = token_sets(smooth_noise, 4, 6)
    with pytest.raises(ArrayError, match=r"\[5, 3\] for 6 tokens"):
        batch_tokens(sets, [np.zeros((4, 3)), np.zeros((5, 3))])
    with pytest.raises(ArrayError, match="2 token sets, 1 arrays"):
        batch_tokens(sets, [np.zeros((4, 3))])
