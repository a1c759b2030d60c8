from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from hra.errors import HraError
from hra.residency import (
    Refusing,
    evaluate,
)
from tests.helpers.residency import POOLS, SEEDS, MakeTrace, refusing_loads


@given(seed=SEEDS, pool=POOLS)
def test_refusing_loads_what_its_twin_loads(random_trace: MakeTrace, seed: int, pool: int):
    trace = random_trace(seed, largest=5)
    result = evaluate(Refusing(), trace, pool)
    assert (result.loads, result.refused) == refusing_loads(trace, pool, 0.75, 0.05)


@pytest.mark.parametrize("wrong", [{"least": -1}, {"least": 2}, {"step": np.nan}, {"step": None}])
def test_shares_that_are_none_are_refused(wrong: dict[str, Any]):
    with pytest.raises(HraError, match="use numbers from 0 to 1"):
        Refusing(**wrong)
