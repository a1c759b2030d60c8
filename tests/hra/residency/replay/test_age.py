from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.errors import HraError
from hra.residency import (
    AgeEviction,
    evaluate,
)
from tests.helpers.residency import POOLS, SEEDS, MakeTrace, age_loads


@given(seed=SEEDS, pool=POOLS, age=st.integers(0, 8))
def test_age_loads_what_its_twin_loads(random_trace: MakeTrace, seed: int, pool: int, age: int):
    trace = random_trace(seed, largest=5)
    result = evaluate(AgeEviction(age), trace, pool)
    assert (result.loads, result.refused) == age_loads(trace, pool, age)
    assert result.peak_bytes <= pool


def test_an_age_below_0_is_refused():
    with pytest.raises(HraError, match="age"):
        AgeEviction(-1)
