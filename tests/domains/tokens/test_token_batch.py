"""Batches: relevance order, padding and mask, in NumPy and torch."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains.tokens.presets.pyramid_sampling import PyramidSampling
from hra.domains.tokens.token_batch import batch_tokens
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
