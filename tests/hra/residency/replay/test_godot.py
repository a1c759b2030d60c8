from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from hra.residency import (
    GodotRule,
    Trace,
    evaluate,
)
from tests.helpers.residency import godot_loads

MakeTrace = Callable[..., Trace]


SEEDS = st.integers(0, 10**6)


POOLS = st.integers(0, 60)


@given(seed=SEEDS, pool=POOLS)
def test_godot_loads_what_its_twin_loads(random_trace: MakeTrace, seed: int, pool: int):
    trace = random_trace(seed, largest=5)
    result = evaluate(GodotRule(), trace, pool)
    assert (result.loads, result.refused) == godot_loads(trace, pool)
