from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.methods.regions.descriptors import pool_patches


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 9))
def test_pooled_features_are_means_over_pixels(height, width, seed):
    generator = np.random.default_rng(seed)
    labels = generator.integers(-1, 4, (height, width)).astype(np.int32)
    features = generator.random((-(-height // 8), -(-width // 8), 2))
    pixels = features.repeat(8, axis=0).repeat(8, axis=1)[:height, :width]
    found = pool_patches(features, labels, 4, 8)
    for region in range(4):
        inside = pixels[labels == region]
        assert found[region] == pytest.approx(inside.mean(axis=0) if len(inside) else np.zeros(2))
