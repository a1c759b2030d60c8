"""The reference against definitions written in another way: overlaps of intervals, blocks of pixels by shifting."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hra.kernels import build_pyramid

images = st.sampled_from([np.float32, np.uint8]).flatmap(
    lambda dtype: hnp.arrays(
        dtype,
        st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 2)),
        elements=st.floats(-100, 100, width=32) if dtype is np.float32 else st.integers(0, 255),
    )
)


def overlaps(count: int) -> list[list[Fraction]]:
    """Share of every pixel in the interval under every coarser pixel; each row sums to one."""
    length = -(-count // 2)
    step = Fraction(count, length)
    return [
        [max(Fraction(0), min((i + 1) * step, j + 1) - max(i * step, j)) / step for j in range(count)]
        for i in range(length)
    ]


def exact_mean(level: np.ndarray) -> np.ndarray:
    rows, columns = overlaps(level.shape[0]), overlaps(level.shape[1])
    values = [[[Fraction(float(v)) for v in pixel] for pixel in row] for row in level]
    exact = np.empty((len(rows), len(columns), level.shape[2]), object)
    for y, x, c in np.ndindex(*exact.shape):
        exact[y, x, c] = sum(
            wy * wx * values[j][i][c]
            for j, wy in enumerate(rows[y])
            for i, wx in enumerate(columns[x])
            if wy > 0 and wx > 0
        )
    return exact


@given(images)
def test_mean_is_the_overlap_of_intervals(image):
    levels = build_pyramid(image, "mean", backend="reference").levels
    for finer, coarser in pairwise(levels):
        exact = exact_mean(finer)
        if image.dtype == np.uint8:
            np.testing.assert_array_equal(coarser, np.vectorize(round, otypes=[int])(exact))  # ties to even
        else:
            np.testing.assert_allclose(coarser, exact.astype(float), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize(("reduce", "extremum"), [("max", np.max), ("min", np.min)])
@given(image=images)
def test_extremum_is_that_of_all_pixels_with_the_same_shifted_coordinates(reduce, extremum, image):
    for level, pixels in enumerate(build_pyramid(image, reduce, backend="reference").levels):
        for y, x in np.ndindex(*pixels.shape[:2]):
            block = image[y << level : (y + 1) << level, x << level : (x + 1) << level]
            np.testing.assert_array_equal(pixels[y, x], extremum(block, axis=(0, 1)))


def test_width_5_keeps_the_mean_that_the_usual_mipmap_loses():
    image = np.array([0, 0, 0, 0, 100], np.float32).reshape(1, 5, 1)
    levels = build_pyramid(image, backend="reference").levels
    np.testing.assert_allclose(levels[1].ravel(), [0, 0, 60], rtol=1e-6)
    assert [float(level.mean()) for level in levels] == pytest.approx([20, 20, 20, 20], rel=1e-6)
