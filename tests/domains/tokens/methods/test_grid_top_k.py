from __future__ import annotations

import numpy as np
import pytest

from hra.domains import tokens
from hra.errors import ArrayError


def test_grid_top_k_takes_the_most_relevant_patches(smooth_noise):
    image = smooth_noise(320, 240)
    scores = np.random.default_rng(1).random((20, 15))
    allocator = tokens.GridTopK(lambda context: scores)
    token_set = allocator.realize(allocator.allocate((image, ""), 50))
    best = np.sort(scores.ravel())[-50:]
    assert np.sort(token_set.relevance) == pytest.approx(best)
    assert (token_set.places[:, 0] == 0).all()
    assert token_set.relevance[token_set.order] == pytest.approx(best[::-1])


def test_grid_top_k_of_nothing_is_an_empty_set(smooth_noise):
    allocator = tokens.GridTopK()
    token_set = allocator.realize(allocator.allocate((smooth_noise(40, 40), ""), 0))
    assert len(token_set) == 0 and token_set.values.shape == (0, 768)
    assert (token_set.reconstruct() == 0.5).all()


@pytest.mark.parametrize("context", [np.zeros((8, 8, 3)), (np.zeros((8, 8, 3)),), (np.zeros((8, 8, 3)), 3), None])
def test_a_context_is_an_image_and_a_query(context):
    with pytest.raises(ArrayError, match=r"\(image, query\)"):
        tokens.GridTopK().allocate(context, 1)
