"""Small random traces that the residency tests share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hra.residency import Trace


@pytest.fixture(scope="session")
def random_trace() -> Callable[..., Trace]:
    """Traces whose demands wander over the items; with ``parents`` a forest of three coarsest items."""

    def make(seed: int, *, items: int = 24, frames: int = 30, parents: bool = False, largest: int = 1) -> Trace:
        random = np.random.default_rng(seed)
        cost = random.integers(1, largest + 1, items)
        above = np.array([-1] * 3 + [random.integers(0, i) for i in range(3, items)]) if parents else None
        centre = np.cumsum(random.integers(-2, 3, frames))
        wanted = [np.unique((c + random.integers(-3, 4, random.integers(0, 6))) % items) for c in centre]
        wanted = [random.permutation(frame) for frame in wanted]
        offsets = np.cumsum([0, *(frame.size for frame in wanted)])
        demands = np.concatenate([np.empty(0, np.int32), *wanted]).astype(np.int32)
        return Trace(offsets, demands, cost, random.integers(0, 9, demands.size).astype(float), above)

    return make
