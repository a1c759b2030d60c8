from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.errors import HraError
from hra.residency import (
    LookAhead,
    evaluate,
)
from tests.helpers.residency import POOLS, SEEDS, MakeTrace, look_ahead_loads


@given(seed=SEEDS, pool=POOLS, frames=st.integers(0, 40))
def test_look_ahead_loads_what_its_twin_loads(random_trace: MakeTrace, seed: int, pool: int, frames: int):
    trace = random_trace(seed, largest=3)
    assert evaluate(LookAhead(frames), trace, pool).loads == look_ahead_loads(trace, pool, frames)


@given(seed=SEEDS, pool=POOLS, frames=st.integers(0, 40))
def test_coarse_items_age_as_those_of_the_twin(random_trace: MakeTrace, seed: int, pool: int, frames: int):
    # A weight that lets no two ages be equal.
    trace, weight = random_trace(seed, parents=True, largest=3), np.pi
    assert evaluate(LookAhead(frames, weight), trace, pool).loads == look_ahead_loads(trace, pool, frames, weight)


@pytest.mark.parametrize("impossible", [(-1, 0.0), (0, -1.0), (0, np.inf), (0, np.nan)])
def test_impossible_look_ahead_is_refused(impossible: tuple[int, float]):
    with pytest.raises(HraError):
        LookAhead(*impossible)
