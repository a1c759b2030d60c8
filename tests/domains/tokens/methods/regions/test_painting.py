from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.methods.regions.painting import bin_of, paint, region_values

SIDES = st.integers(1, 14)


@given(SIDES, SIDES, st.integers(1, 4), st.integers(1, 4), st.integers(0, 10**6))
def test_values_are_means_of_bins_and_paint_shows_them(height: int, width: int, count: int, patch: int, seed: int):
    rng = np.random.default_rng(seed)
    image, labels = (
        rng.random((height, width, 3), np.float32),
        rng.integers(-1, count, (height, width)).astype(np.int32),
    )
    places = [np.argwhere(labels == region) for region in range(count)]
    boxes = np.zeros((count, 4), np.int32)
    for region, at in enumerate(places):
        if len(at):
            boxes[region] = *at.min(axis=0)[::-1], *(at.max(axis=0)[::-1] + 1)
    found = region_values(image, labels, boxes, patch)
    shown = paint(found, labels, boxes, patch, 0.25)
    for region, at in enumerate(places):
        bins: dict[int, list[np.ndarray]] = {}
        for y, x in at:
            bins.setdefault(int(bin_of(boxes[region], y, x, patch)), []).append(image[y, x])
        for place in range(patch**2 if len(at) else 0):
            expected = np.mean(bins.get(place, [image[y, x] for y, x in at]), axis=0)
            np.testing.assert_allclose(found[region, 3 * place : 3 * place + 3], expected, atol=1e-5)
        for y, x in at:
            place = 3 * int(bin_of(boxes[region], y, x, patch))
            np.testing.assert_array_equal(shown[y, x], np.clip(found[region, place : place + 3], 0, 1))
    assert (shown[labels < 0] == 0.25).all()
