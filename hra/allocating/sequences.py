"""How much a sequence of allocations changes: churn from step to step, thrash over a window."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from hra.allocating.allocation import Allocation


def churn(allocations: Sequence[Allocation]) -> np.ndarray:
    """Refinements taken or dropped between consecutive steps, int64 [len - 1]; all over one hierarchy."""
    return np.array([np.count_nonzero(a.selected != b.selected) for a, b in pairwise(allocations)], np.int64)


def thrash(allocations: Sequence[Allocation], window: int = 60) -> int:
    """How often a refinement was dropped and taken again within ``window`` steps."""
    if not allocations:
        return 0
    dropped_at = np.full(allocations[0].selected.size, -window - 1)
    count = 0
    for step in range(1, len(allocations)):
        before, now = allocations[step - 1].selected, allocations[step].selected
        count += int(np.count_nonzero(now & ~before & (step - dropped_at <= window)))
        dropped_at[before & ~now] = step
    return count
