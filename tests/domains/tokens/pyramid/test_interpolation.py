"""Average interpolation: it keeps means, reproduces polynomials, and matches the plain formula."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.pyramid.interpolation import halve, refine


def reference(coarse: np.ndarray, axis: int) -> np.ndarray:
    """One axis in double precision, cell by cell, straight from the five-cell formula."""
    cells = np.moveaxis(coarse.astype(np.float64), axis, 0)
    last, halves = len(cells) - 1, []
    for i, cell in enumerate(cells):
        near = cells[min(i + 1, last)] - cells[max(i - 1, 0)]
        far = cells[min(i + 2, last)] - cells[max(i - 2, 0)]
        slope = (22 * near - 3 * far) / 128
        halves += [cell - slope, cell + slope]
    return np.moveaxis(np.array(halves), 0, axis)


@given(st.integers(1, 19), st.integers(1, 19), st.integers(0, 10))
def test_matches_the_plain_formula(height, width, seed):
    coarse = np.random.default_rng(seed).random((-(-height // 2), -(-width // 2), 3)).astype(np.float32)
    expected = reference(reference(coarse, 0), 1)[:height, :width]
    assert refine(coarse, height, width) == pytest.approx(expected, abs=1e-6)


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 10))
def test_halving_undoes_it(rows, columns, seed):
    coarse = np.random.default_rng(seed).random((rows, columns, 3)).astype(np.float32)
    assert halve(refine(coarse, 2 * rows, 2 * columns)) == pytest.approx(coarse, abs=1e-6)


def test_polynomials_of_degree_four_are_exact_inside():
    def means(cells: int) -> np.ndarray:
        edges = np.linspace(-1, 1, cells + 1)
        return np.diff(edges**5 - edges**3 + edges) / np.diff(edges)  # of 5x^4 - 3x^2 + 1

    coarse = np.broadcast_to(means(16)[None, :, None], (1, 16, 3)).astype(np.float32)
    fine = refine(coarse, 1, 32)[0, :, 0]
    assert fine[4:-4] == pytest.approx(means(32)[4:-4], abs=1e-5)
    assert fine[0] != pytest.approx(means(32)[0], abs=1e-5)  # the repeated edge is not a polynomial


@given(st.integers(1, 17), st.integers(1, 17), st.integers(0, 10))
def test_each_cell_is_the_mean_of_its_pixels_with_the_edge_repeated(height, width, seed):
    pixels = np.random.default_rng(seed).random((height, width, 3)).astype(np.float32)
    coarse = halve(pixels)
    assert coarse.shape == (-(-height // 2), -(-width // 2), 3)
    for y in range(coarse.shape[0]):
        for x in range(coarse.shape[1]):
            rows, columns = [2 * y, min(2 * y + 1, height - 1)], [2 * x, min(2 * x + 1, width - 1)]
            assert coarse[y, x] == pytest.approx(pixels[np.ix_(rows, columns)].mean(axis=(0, 1)), abs=1e-6)


def test_a_constant_stays_constant_to_the_bit():
    pixels = np.full((7, 5, 3), 0.3, np.float32)
    assert (halve(pixels) == np.float32(0.3)).all()
