from __future__ import annotations

import hra
from hra.model.hierarchy import Hierarchy
from tests.helpers.allocators import allocate


def test_best_first_misses_what_lies_behind_a_step_without_gain_and_the_hull_does_not():
    hierarchy = Hierarchy.chains([3], [0, 1, 1])
    assert allocate(hierarchy, [0, 0, 9], 2, hra.BestFirst(), "gain").gain == 0
    assert allocate(hierarchy, [0, 0, 9], 2, hra.Hull(), "gain").gain == 9
