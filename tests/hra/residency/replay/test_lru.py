from __future__ import annotations

from hypothesis import given

from hra.residency import (
    LRU,
    evaluate,
)
from tests.helpers.residency import POOLS, SEEDS, MakeTrace, lru_loads


@given(seed=SEEDS, pool=POOLS)
def test_lru_loads_what_its_twin_loads(random_trace: MakeTrace, seed: int, pool: int):
    trace = random_trace(seed, largest=5)
    assert evaluate(LRU(), trace, pool).loads == lru_loads(trace, pool)
