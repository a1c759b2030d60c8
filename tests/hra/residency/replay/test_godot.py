from __future__ import annotations

from hypothesis import given

from hra.residency import (
    GodotRule,
    evaluate,
)
from tests.helpers.residency import POOLS, SEEDS, MakeTrace, godot_loads


@given(seed=SEEDS, pool=POOLS)
def test_godot_loads_what_its_twin_loads(random_trace: MakeTrace, seed: int, pool: int):
    trace = random_trace(seed, largest=5)
    result = evaluate(GodotRule(), trace, pool)
    assert (result.loads, result.refused) == godot_loads(trace, pool)
