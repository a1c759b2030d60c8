"""What several tests of verification share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hra.allocating.allocation import Allocation
from tests.helpers.claims import stating


def taking(true: Allocation, *taken: int) -> Allocation:
    selected = np.zeros(len(true.hierarchy), np.bool_)
    selected[list(taken)] = True
    return stating(true, solution=replace(true.solution, selected=selected))
