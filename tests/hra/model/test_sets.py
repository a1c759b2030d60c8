from __future__ import annotations

import numpy as np

from hra.model.hierarchy import Hierarchy
from hra.model.sets import cost_step


def test_the_common_step_of_costs():
    assert cost_step(np.array([6.0, 0.0, 9.0, 12.0])) == 3
    assert cost_step(np.array([5.0, 7.0])) == 1
    assert cost_step(np.array([6.0, -4.0])) == 2
    assert cost_step(np.zeros(3)) == cost_step(np.zeros(0)) == 0
    assert Hierarchy.flat([6.0, 3.0, 9.0]).capacity(11.0) == 9.0
