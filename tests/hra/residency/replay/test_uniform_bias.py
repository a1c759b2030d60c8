from __future__ import annotations

import pytest
from hypothesis import given

from hra.errors import HraError
from hra.residency import UniformBias, close_upward, evaluate
from tests.helpers.residency import POOLS, SEEDS, MakeTrace


@given(seed=SEEDS, extra=POOLS)
def test_a_uniform_bias_is_the_least_that_fits(random_trace: MakeTrace, seed: int, extra: int):
    trace = random_trace(seed, parents=True, largest=5)
    base = int(trace.cost[:3].sum())
    result = evaluate(UniformBias(), trace, base + extra)
    assert result.orphans == 0
    whole = evaluate(UniformBias(), trace, int(trace.cost.sum()))
    assert whole.late == 0
    wanted = close_upward(trace)
    for frame in range(len(trace)):
        needed = sum(int(trace.cost[item]) for item in wanted.frame(frame) if item >= 3)
        if needed > extra:
            assert result.late > 0


def test_a_bias_needs_parents(random_trace: MakeTrace):
    with pytest.raises(HraError, match="coarser"):
        evaluate(UniformBias(), random_trace(0), 10)
