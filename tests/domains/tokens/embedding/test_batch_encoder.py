from __future__ import annotations

import numpy as np
import pytest

from hra.domains import tokens
from hra.errors import ArrayError
from tests.helpers.embeddings_cases import chosen_by, patch_means


def test_samples_share_the_calls_of_an_encoder_of_batches(smooth_noise):
    chosen, sizes = chosen_by("log-polar", smooth_noise(96, 128)), []
    encoder = tokens.BatchEncoder(lambda images: sizes.append(len(images)) or images.mean((1, 2), keepdims=True), 16)
    np.testing.assert_allclose(chosen.encode(encoder), chosen.encode(patch_means), atol=1e-5)
    assert sum(sizes) == len(chosen) and len(sizes) == -(-len(chosen) // 16)
    with pytest.raises(ArrayError, match="1 features for 16 images"):
        chosen.encode(tokens.BatchEncoder(lambda images: images[:1], 16))
