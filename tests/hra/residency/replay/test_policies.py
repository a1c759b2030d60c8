"""The compiled policies against plain twins, and what holds for all of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.errors import HraError
from hra.residency import (
    LRU,
    AgeEviction,
    Belady,
    GodotRule,
    LookAhead,
    Policy,
    Refusing,
    Streaming,
    Trace,
    UniformBias,
    close_upward,
    evaluate,
)
from hra.residency.replay.paths import kitti_like, terrain_walk
from hra.residency.replay.policies import policies
from tests.helpers.residency import age_loads, fewest_loads, godot_loads, look_ahead_loads, lru_loads, refusing_loads

MakeTrace = Callable[..., Trace]
SEEDS = st.integers(0, 10**6)
POOLS = st.integers(0, 60)


@given(seed=SEEDS, pool=POOLS)
def test_lru_loads_what_its_twin_loads(random_trace: MakeTrace, seed: int, pool: int):
    trace = random_trace(seed, largest=5)
    assert evaluate(LRU(), trace, pool).loads == lru_loads(trace, pool)


@given(seed=SEEDS, pool=st.integers(1, 4))
def test_belady_is_the_optimum_of_equal_costs(random_trace: MakeTrace, seed: int, pool: int):
    trace = random_trace(seed, items=7, frames=12)
    assert evaluate(Belady(), trace, pool).loads == fewest_loads(trace, pool)


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


@given(seed=SEEDS, pool=st.integers(1, 20))
def test_knowing_everything_is_the_optimum(random_trace: MakeTrace, seed: int, pool: int):
    trace = random_trace(seed, frames=60)
    assert evaluate(LookAhead(None), trace, pool).loads == evaluate(Belady(), trace, pool).loads


@given(seed=SEEDS, pool=POOLS)
def test_godot_loads_what_its_twin_loads(random_trace: MakeTrace, seed: int, pool: int):
    trace = random_trace(seed, largest=5)
    result = evaluate(GodotRule(), trace, pool)
    assert (result.loads, result.refused) == godot_loads(trace, pool)


@given(seed=SEEDS, pool=POOLS)
def test_refusing_loads_what_its_twin_loads(random_trace: MakeTrace, seed: int, pool: int):
    trace = random_trace(seed, largest=5)
    result = evaluate(Refusing(), trace, pool)
    assert (result.loads, result.refused) == refusing_loads(trace, pool, 0.75, 0.05)


@given(seed=SEEDS, pool=POOLS, age=st.integers(0, 8))
def test_age_loads_what_its_twin_loads(random_trace: MakeTrace, seed: int, pool: int, age: int):
    trace = random_trace(seed, largest=5)
    result = evaluate(AgeEviction(age), trace, pool)
    assert (result.loads, result.refused) == age_loads(trace, pool, age)
    assert result.peak_bytes <= pool


def test_an_age_below_0_is_refused():
    with pytest.raises(HraError, match="age"):
        AgeEviction(-1)


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


def test_what_is_larger_than_the_pool_is_refused_each_time():
    trace = Trace(*map(np.array, ([0, 2, 3], [0, 1, 0], [5, 2])))
    assert Belady().run(trace, 3).refused.tolist() == [1, 1]
