"""Stratified sampling: the worked example through the preset, and the rule against a plain one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.methods.stratified import Stratified
from hra.errors import ArrayError
from hra.solvers.apportionment import largest_remainder

IMPORTANCE = [[850, 120, 80, 50], [320, 180, 140, 90], [95, 110, 100, 70], [60, 75, 85, 55]]
COUNTS = [[96, 13, 9, 6], [34, 19, 15, 10], [10, 12, 11, 8], [7, 8, 9, 6]]


def counts_of(allocator: Stratified, side: int, budget: int) -> list[list[int]]:
    """Patches per quarter of a quarter of a square image of ``side`` x ``side`` patches of 4 pixels."""
    token_set = allocator.realize(allocator.allocate((np.zeros((4 * side, 4 * side, 3)), ""), budget))
    x, y = token_set.places[:, 1:].T * 4 // side
    return np.bincount(4 * y + x, minlength=16).reshape(4, 4).tolist()


def test_the_worked_example():
    scores = np.kron(IMPORTANCE, np.ones((16, 16)))
    allocator = Stratified(lambda context: scores, patch=4)
    assert counts_of(allocator, 64, 273) == COUNTS


def test_the_other_rule_gives_the_leftovers_to_the_largest_remainders():
    scores = np.kron(IMPORTANCE, np.ones((16, 16)))
    allocator = Stratified(lambda context: scores, patch=4, rule=largest_remainder)
    expected = largest_remainder(np.ravel(IMPORTANCE), 273).reshape(4, 4).tolist()
    assert counts_of(allocator, 64, 273) == expected != COUNTS


def test_strata_with_too_few_patches_give_what_is_left_to_others():
    scores = np.kron(IMPORTANCE, np.ones((4, 4)))
    counts = np.ravel(counts_of(Stratified(lambda context: scores, patch=4), 16, 200))
    assert counts.sum() == 200 and counts.max() == 16 and counts[0] == 16


def test_the_best_patches_of_each_stratum_are_taken():
    scores = np.random.default_rng(0).random((64, 64))
    allocator = Stratified(lambda context: scores, patch=4)
    token_set = allocator.realize(allocator.allocate((np.zeros((256, 256, 3)), ""), 273))
    x, y = token_set.places[:, 1:].T
    taken = np.zeros((64, 64), bool)
    taken[y, x] = True
    for row in range(0, 64, 16):
        for column in range(0, 64, 16):
            part = np.s_[row : row + 16, column : column + 16]
            assert taken[part].any()
            assert scores[part][taken[part]].min() >= scores[part][~taken[part]].max()


@given(st.integers(1, 30), st.integers(1, 30), st.integers(16, 200))
def test_every_stratum_is_seen(rows, columns, budget):
    scores = np.random.default_rng(rows).random((rows, columns)) ** 8
    allocator = Stratified(lambda context: scores, patch=2)
    context = allocator.context(np.zeros((2 * rows, 2 * columns, 3)), "")
    allocation = allocator.allocate(context, budget)
    strata = allocation.hierarchy.attribute("stratum")
    assert np.array_equal(np.unique(strata[allocation.cut]), np.unique(strata))
    assert np.unique(strata).size == min(rows, 4) * min(columns, 4)


@given(st.integers(1, 20), st.integers(1, 20), st.integers(1, 6), st.integers(1, 6))
def test_strata_are_rectangles_numbered_row_by_row(rows, columns, down, across):
    allocator = Stratified(patch=2, rows=down, columns=across)
    hierarchy = allocator.hierarchy_for((np.zeros((2 * rows, 2 * columns, 3)), ""))
    stratum, x, y = (hierarchy.attribute(name) for name in ("stratum", "x", "y"))
    corners = []
    for label in range(stratum.max() + 1):
        inside = stratum == label
        assert inside.sum() == (np.ptp(x[inside]) + 1) * (np.ptp(y[inside]) + 1)
        corners.append((y[inside].min(), x[inside].min()))
    assert corners == sorted(corners)


def test_other_grids():
    allocator = Stratified(rows=2, columns=3)
    allocation = allocator.allocate((np.zeros((160, 160, 3)), ""), 12)
    assert set(allocation.hierarchy.attribute("stratum").tolist()) == set(range(6))
    with pytest.raises(ArrayError, match="integer of 1 or more"):
        Stratified(rows=0)
