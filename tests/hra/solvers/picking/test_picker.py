"""Rules of picking against what their papers define, computed plainly, and small cases by hand."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import hra
from hra.solvers.picking.density_peaks import DensityPeaks
from hra.solvers.picking.determinant import Determinant
from hra.solvers.picking.farthest import Farthest
from hra.solvers.picking.picker import Bands, Changed, Strided, Top, Windows, attribute
from tests.helpers.traversals import cut_of


def test_an_attribute_is_that_of_the_node_which_a_refinement_adds():
    tree = hra.Hierarchy.tree([-1, 0, 0], [1, 2, 3], mode="add", attributes={"name": np.array([7, 8, 9])})
    problem = hra.solve(tree, 6, gains=[0.0, 1.0, 1.0]).problem
    assert attribute(problem, "name").tolist() == [8, 9]
    flat = hra.Hierarchy.flat([1, 1], attributes={"name": np.array([4, 5])})
    assert attribute(hra.solve(flat, 2, gains=[1.0, 1.0]).problem, "name").tolist() == [4, 5]


def test_windows_share_evenly_and_take_their_best():
    y, x = np.divmod(np.arange(16), 4)
    values = np.arange(16.0)
    # Two of each 2 x 2 window: its lower row.
    assert cut_of([(1, Windows(side=2))], 8, values + 1, x=x, y=y) == [4, 5, 6, 7, 12, 13, 14, 15]
    assert cut_of([(1, Windows("values", side=2))], 4, np.ones(16), x=x, y=y, values=-values) == [0, 2, 8, 10]


def test_rules_share_the_budget_in_turn():
    gains = [5.0, 1.0, 4.0, 3.0, 2.0, 0.5]
    assert cut_of([(1, Top()), (1, Strided())], 4, gains) == [0, 1, 2, 4]  # of 1, 3, 4, 5 every second
    assert cut_of([(3, Top()), (1, Strided())], 4, gains) == [0, 1, 2, 3]


def test_bands_of_nothing_share_alike():
    assert cut_of([(1, Bands(count=2, by="size"))], 2, np.ones(6), size=np.zeros(6)) == [0, 3]


def test_bands_share_by_their_mean():
    # Means of 3, 1 and 2 of six: of 6 a third each goes to 3, 1 and 2, and of 5 the floors are 2, 0 and 1.
    values = [5.0, 1, 3, 1, 1, 1, 2, 1, 3]
    assert cut_of([(1, Bands(3))], 6, values) == [0, 1, 2, 3, 6, 8]
    assert cut_of([(1, Bands(3))], 5, values) == [0, 1, 2, 6, 8]
    assert cut_of([(1, Bands(3))], 4, values) == [0, 1, 2, 8]
    assert cut_of([(1, Bands(3))], 9, values) == list(range(9))


def test_changed_takes_the_first_frame_and_then_what_is_new():
    features = [[1.0, 0], [0, 1], [1, 1], [0, 2], [1, 0.5], [5, 5]]  # three frames of two cells
    frame = [0, 0, 1, 1, 2, 2]
    assert cut_of([(1, Changed())], 2, np.ones(6), features=features, frame=frame) == [0, 1]
    # 45 degrees from frame 0 to 1 in the first cell, none in the second; then 18 and 45 degrees.
    assert cut_of([(1, Changed())], 4, np.ones(6), features=features, frame=frame) == [0, 1, 2, 5]
    assert cut_of([(1, Changed())], 5, np.ones(6), features=features, frame=frame) == [0, 1, 2, 4, 5]
    assert cut_of([(1, Changed())], 3, np.ones(6), features=features, frame=np.zeros(6)) == [0, 1, 2]


RULES = [Top(), Strided(), Windows(side=2), Farthest(), Determinant(), Bands(4), DensityPeaks(), Changed()]


@given(st.integers(1, 25), st.data())
@settings(max_examples=40)
def test_every_pair_of_rules_meets_every_count(size, data):
    rng = np.random.default_rng(size)
    pair = data.draw(st.sampled_from(list(itertools.product(RULES, RULES))))
    shares = data.draw(st.tuples(st.floats(0.1, 9), st.floats(0.1, 9)))
    y, x = np.divmod(np.arange(size), 5)
    budget = data.draw(st.integers(0, size + 3))
    features = np.round(rng.normal(size=(size, 3)), 0)  # with repetitions and zeros
    found = cut_of(zip(shares, pair, strict=True), budget, rng.random(size), x=x, y=y, features=features, frame=y)
    assert len(found) == min(budget, size)
