"""Shares of the copies whose bound is loosest."""

from __future__ import annotations

import numpy as np

from hra.model.hierarchy import Hierarchy
from hra.solvers.copies.at_price import sets_at_price
from hra.solvers.copies.blocks import all_rows, even_shares
from hra.solvers.copies.copies import Copies
from hra.solvers.copies.solve import improve_worst
from tests.hra.solvers.copies.test_at_price import blocks_of

# What the third has pays for the first two, but not in halves: even shares leave a surplus that nobody has.
SHORT = np.array([[0, 2], [1, 2]], np.int32)
LONG = np.array([[0, 2], [1, 2], [2, 3]], np.int32)


def test_the_bound_of_every_kind_comes_near_the_best_set() -> None:
    copies = Copies((Hierarchy.dag([1.0, 3, 1], SHORT), Hierarchy.dag([1.0, 3, 1, 2], LONG)), (5, 7))
    gain = np.zeros(copies.lanes)
    for part in copies.parts(gain):
        part[2] = np.linspace(4.5, 5.0, part.shape[1])
    rows, share, gains = copies.rows, even_shares(copies), blocks_of(copies, gain)
    reach, sets = all_rows(rows, share), np.empty(copies.lanes, np.bool_)
    first = bound = sets_at_price(rows, gains, 1.0, share, reach, sets)[2]
    for _ in range(20):
        improve_worst(rows, gains, 1.0, share, reach, sets, np.full(8, 1.0))
        bound = sets_at_price(rows, gains, 1.0, share, reach, sets)[2]
    # At this price no set is worth more than nothing.
    assert first > 8 and 0 <= bound < 0.3 * first
