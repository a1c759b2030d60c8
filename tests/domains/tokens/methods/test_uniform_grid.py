"""Uniform grid: regular grids at powers of four, even spread in between."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.methods.random_patches import Random
from hra.domains.tokens.methods.uniform_grid import UniformGrid, dither_rank


def bayer(bits: int) -> np.ndarray:
    """Bayer's matrix by its recursion, 0 .. 4**bits - 1."""
    matrix = np.zeros((1, 1), int)
    for _ in range(bits):
        matrix = np.block([[4 * matrix, 4 * matrix + 2], [4 * matrix + 3, 4 * matrix + 1]])
    return matrix


@pytest.mark.parametrize("bits", [0, 1, 2, 3, 5])
def test_the_order_is_bayers_from_another_corner(bits):
    side = 2**bits
    y, x = (places.ravel() for places in np.indices((side, side)))
    rank = (side**2 - dither_rank(x, y)).astype(int).reshape(side, side)
    corner = 0x55555555 & (side - 1)
    moved = np.arange(side) ^ corner
    assert np.array_equal(rank[np.ix_(moved, moved)], bayer(bits))


@pytest.mark.parametrize(("budget", "stride"), [(16, 4), (64, 2), (4, 8)])
def test_powers_of_four_are_regular_grids(budget, stride):
    token_set_of = UniformGrid()
    token_set = token_set_of.realize(token_set_of.allocate((np.zeros((256, 256, 3)), ""), budget))
    for axis in (1, 2):
        places = np.unique(token_set.places[:, axis])
        assert (np.diff(places) == stride).all() and places.size**2 == budget


@given(st.integers(8, 40), st.integers(8, 40), st.integers(4, 60))
def test_no_part_of_the_image_is_left_out(rows, columns, budget):
    allocator = UniformGrid(patch=2)
    places = allocator.realize(allocator.allocate((np.zeros((2 * rows, 2 * columns, 3)), ""), budget)).places
    y, x = np.indices((rows, columns))
    far = np.min([np.maximum(abs(y - row), abs(x - column)) for _, column, row in places.tolist()], axis=0)
    # A regular grid of half as many patches leaves no hole wider than its stride.
    assert far.max() <= np.ceil(2 * np.sqrt(rows * columns / budget))


def test_it_is_more_even_than_chance():
    image = np.zeros((512, 512, 3))
    spread = []
    for allocator in (UniformGrid(), Random()):
        x, y = allocator.realize(allocator.allocate((image, ""), 100)).places[:, 1:].T
        spread.append(np.bincount((y // 8) * 4 + x // 8, minlength=16).std())
    assert spread[0] < spread[1] / 2
