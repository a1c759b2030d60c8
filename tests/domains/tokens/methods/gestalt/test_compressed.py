from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.methods.gestalt.compressed import CompressedGestalt
from hra.domains.tokens.methods.gestalt_saccades import GestaltSaccades
from hra.errors import MetricError


@given(st.integers(1, 100), st.integers(1, 100), st.integers(1, 6))
def test_compression_is_the_mean_of_the_tokens_of_a_cell(height, width, cells):
    image = np.random.default_rng(width).random((height, width, 3), dtype=np.float32)
    allocator = GestaltSaccades(patch=8, gestalt=CompressedGestalt(cells, cells))
    context = allocator.context(image, "")
    base = int(allocator.hierarchy_for(context).base_cost)
    token_set = allocator.realize(allocator.allocate(context, base))
    finest = context.pyramid.values(context.pyramid.positions[: context.pyramid.offsets[1]])
    y, x = (places.ravel() * 8 for places in np.indices(context.pyramid.grids[0]))
    cell = token_set.token_map()[y, x]
    for number, value in enumerate(token_set.base):
        assert value == pytest.approx(finest[cell == number].mean(axis=0), abs=1e-5)


def test_a_compressor_of_ones_own():
    image = np.random.default_rng(0).random((64, 64, 3), dtype=np.float32)
    first = CompressedGestalt(2, 2, lambda finest, grid: finest[::2, ::2])
    allocator = GestaltSaccades(gestalt=first)
    token_set = allocator.realize(allocator.allocate((image, ""), 4))
    assert np.array_equal(token_set.base[3].reshape(16, 16, 3), image[32:48, 32:48])
    assert np.array_equal(token_set.reconstruct()[48:, 48:], image[32:48, 32:48])
    for bad in (lambda finest, grid: finest, lambda finest, grid: finest[::2, ::2] * np.nan):
        allocator = GestaltSaccades(gestalt=CompressedGestalt(2, 2, bad))
        with pytest.raises(MetricError, match="compressor"):
            allocator.realize(allocator.allocate((image, ""), 4))
