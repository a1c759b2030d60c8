from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hra.residency import (
    Belady,
    Trace,
    evaluate,
)
from tests.helpers.residency import SEEDS, MakeTrace, fewest_loads


@given(seed=SEEDS, pool=st.integers(1, 4))
def test_belady_is_the_optimum_of_equal_costs(random_trace: MakeTrace, seed: int, pool: int):
    trace = random_trace(seed, items=7, frames=12)
    assert evaluate(Belady(), trace, pool).loads == fewest_loads(trace, pool)


def test_what_is_larger_than_the_pool_is_refused_each_time():
    trace = Trace(*map(np.array, ([0, 2, 3], [0, 1, 0], [5, 2])))
    assert Belady().run(trace, 3).refused.tolist() == [1, 1]
