from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import tokens
from hra.domains.tokens.patches.tokens import region_means


@given(st.integers(0, 10**6), st.integers(1, 60))
def test_values_boxes_and_relevance_are_those_of_the_levels(seed: int, count: int):
    rng = np.random.default_rng(seed)
    image = rng.random((70, 90, 3), dtype=np.float32)
    context = tokens.TokenContext.of(image, relevance=lambda context: rng.random(context.grid), patch=8)
    places = rng.permutation(context.pyramid.positions)[:count]
    found = tokens.PatchTokens.at(context, places)
    for token, (level, x, y) in enumerate(places.tolist()):
        pixels = context.pyramid.levels[level]
        rows, columns = (
            np.minimum(at * 8 + np.arange(8), size - 1) for at, size in zip((y, x), pixels.shape[:2], strict=True)
        )
        np.testing.assert_array_equal(found.values[token], pixels[np.ix_(rows, columns)].ravel())
        side, cells = 8 << level, 1 << level
        assert found.boxes[token].tolist() == [x * side, y * side, min((x + 1) * side, 90), min((y + 1) * side, 70)]
        below = context.relevance[y * cells : (y + 1) * cells, x * cells : (x + 1) * cells]
        np.testing.assert_allclose(found.relevance[token], below.mean())
    np.testing.assert_allclose(region_means(context.relevance, places), found.relevance)


def test_the_finest_token_is_on_top():
    context = tokens.TokenContext.of(np.zeros((32, 32, 3), np.float32), patch=8)
    shown = tokens.PatchTokens.at(context, np.array([[2, 0, 0], [0, 1, 2]], np.int32)).token_map()
    assert (shown[16:24, 8:16] == 1).all()
    assert (shown == 1).sum() == 64
