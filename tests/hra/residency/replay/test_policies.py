"""The compiled policies against plain twins, and what holds for all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.errors import HraError, InvalidBudget
from hra.residency import (
    LRU,
    Belady,
    GodotRule,
    LookAhead,
    Policy,
    Refusing,
    Streaming,
    Trace,
    evaluate,
)
from hra.residency.replay.paths import kitti_like, terrain_walk
from hra.residency.replay.policies import policies
from tests.helpers.residency import POOLS, SEEDS, MakeTrace


@given(seed=SEEDS, pool=st.integers(1, 20))
def test_knowing_everything_is_the_optimum(random_trace: MakeTrace, seed: int, pool: int):
    trace = random_trace(seed, frames=60)
    assert evaluate(LookAhead(None), trace, pool).loads == evaluate(Belady(), trace, pool).loads


@pytest.mark.parametrize("trace", [kitti_like(300), terrain_walk(300)], ids=["kitti_like", "terrain_walk"])
@pytest.mark.parametrize("tiles", [500, 1000])
def test_look_ahead_lies_between_lru_and_the_optimum(trace: Trace, tiles: int):
    pool = 65_536 * tiles
    loads = [evaluate(p, trace, pool).loads for p in (LRU(), LookAhead(0), LookAhead(30), LookAhead(None), Belady())]
    assert loads == sorted(loads, reverse=True)
    assert loads[-1] == loads[-2]
    assert evaluate(LookAhead(30), trace, pool).thrash <= evaluate(LRU(), trace, pool).thrash


@pytest.mark.slow
def test_the_drive_has_the_size_of_the_recording_and_look_ahead_saves_a_quarter():
    trace, pool = kitti_like(), 2000 * 65_536
    assert len(trace) == 2271
    assert abs(trace.demands.size / 827_000 - 1) < 0.03
    assert abs(trace.distinct / 48_000 - 1) < 0.03
    lru, belady = evaluate(LRU(), trace, pool), evaluate(Belady(), trace, pool)
    ahead = evaluate(LookAhead(300), trace, pool)
    assert lru.loads - ahead.loads >= (lru.loads - belady.loads) / 4
    assert evaluate(LookAhead(0), trace, pool).loads <= lru.loads
    assert evaluate(LookAhead(None), trace, pool).loads == belady.loads
    assert ahead.thrash < lru.thrash


@given(seed=SEEDS, pool=POOLS)
@pytest.mark.parametrize("policy", [LRU(), Belady(), LookAhead(3), GodotRule(), Refusing()], ids=lambda p: p.name)
def test_the_same_input_gives_the_same_log(random_trace: MakeTrace, policy: Policy, seed: int, pool: int):
    trace = random_trace(seed, largest=4)
    first, second = policy.run(trace, pool), policy.run(trace, pool)
    assert np.array_equal(first.events, second.events)
    assert np.array_equal(first.frames, second.frames)


@pytest.mark.parametrize("make", [kitti_like, terrain_walk])
@pytest.mark.parametrize("policy", [LRU(), Belady()], ids=lambda p: p.name)
def test_another_simulator_counts_the_same_loads(make: Callable[..., Trace], policy: Policy):
    simulator = pytest.importorskip("libcachesim", reason="`make test-peers` installs it")
    from hra.residency.replay.next_use import next_references

    trace, tiles = make(200), 500
    following = next_references(trace.demands, trace.cost.size)
    cache, loads = getattr(simulator, policy.name)(cache_size=tiles), 0
    for position, item in enumerate(trace.demands.tolist()):
        request = simulator.Request()
        request.obj_id, request.obj_size, request.clock_time = item, 1, position
        coming = int(following[position])
        request.next_access_vtime = coming if coming < following.size else 2**62
        loads += not cache.get(request)
    assert evaluate(policy, trace, tiles * 65_536).loads == loads


def test_policies_are_found_by_name(random_trace: MakeTrace):
    flat, tree = random_trace(0), random_trace(0, parents=True)
    assert [p.name for p in policies("lru,belady", flat)] == ["LRU", "Belady"]
    assert len(policies("all", tree)) == len(policies("all", flat)) + 1
    assert [p.upload_bytes for p in policies("streaming", flat, 7) if isinstance(p, Streaming)] == [7, 7, 7]
    with pytest.raises(HraError, match="nothing"):
        policies("lru,nothing", flat)


@pytest.mark.parametrize("pool", [float("nan"), -1, "8", None, True], ids=repr)
@pytest.mark.parametrize("policy", policies("all", kitti_like(3)), ids=lambda policy: policy.name)
def test_a_pool_that_is_no_number_of_bytes_is_refused(random_trace: MakeTrace, policy: Policy, pool: Any):
    trace = random_trace(0, frames=3)
    with pytest.raises(InvalidBudget, match="pool must be"):
        policy.run(trace, pool)
    with pytest.raises(HraError, match="trace must be a Trace, got a int"):
        policy.run(cast(Any, 8), 8)
