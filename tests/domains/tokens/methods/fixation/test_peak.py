"""The coarse pass that finds where to look."""

from __future__ import annotations

import numpy as np

from hra.domains.tokens.methods.fixation.peak import coarse_peak


def test_the_peak_is_the_centre_of_its_coarse_cell():
    relevance = np.zeros((64, 64))
    relevance[21, 42] = 1  # coarse cell (5, 10) of 4 x 4 patches
    assert coarse_peak(relevance) == ((42) * 16.0, 22 * 16.0)


def test_a_broad_region_beats_a_single_patch():
    relevance = np.zeros((64, 64))
    relevance[0, 0] = 1
    relevance[60:, 60:] = 0.5
    assert coarse_peak(relevance) == (62 * 16.0, 62 * 16.0)


def test_few_patches_are_their_own_cells():
    relevance = np.array([[0.1, 0.2, 0.9]])
    assert coarse_peak(relevance, patch=8) == (20.0, 4.0)


def test_equal_cells_give_the_first():
    assert coarse_peak(np.ones((32, 32))) == (16.0, 16.0)


def test_uneven_cells_are_compared_by_their_mean():
    relevance = np.ones((17, 17))  # 16 cells for 17 patches: one row and one column of cells is larger
    relevance[0, 0] = 1.1
    assert coarse_peak(relevance) == (8.0, 8.0)
