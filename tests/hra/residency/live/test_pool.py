from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.errors import ArrayError, BudgetTooSmall, HraError, InvalidBudget
from hra.model.arrays import read_only
from hra.residency import ResidentPool, Streaming, Trace, close_upward, evaluate
from hra.residency.live import pool_kernels
from hra.residency.live.pool import FrameChanges
from tests.helpers.compiled_kinds import kinds_compiled

MakeTrace = Callable[..., Trace]
SEEDS = st.integers(0, 10**6)


def base_bytes(trace: Trace) -> int:
    return int(trace.cost[:3].sum())


@given(seed=SEEDS, extra=st.integers(0, 40), upload=st.none() | st.integers(5, 20), ahead=st.integers(0, 6))
def test_limits_hold_in_every_frame_and_parents_come_first(
    random_trace: MakeTrace, seed: int, extra: int, upload: int | None, ahead: int
):
    trace = random_trace(seed, parents=True, largest=5)
    pool = base_bytes(trace) + extra
    result = evaluate(Streaming(ahead, upload, prefetch=ahead), trace, pool)
    assert result.peak_bytes <= pool
    assert result.orphans == result.refused == 0
    if upload is not None:
        assert result.loaded_bytes[0] <= base_bytes(trace) + upload
        assert (result.loaded_bytes[1:] <= upload).all()


@given(seed=SEEDS, parents=st.booleans(), ahead=st.integers(0, 4))
def test_what_fits_is_there_at_once_without_an_upload_limit(
    random_trace: MakeTrace, seed: int, parents: bool, ahead: int
):
    trace = random_trace(seed, parents=parents)
    wanted = close_upward(trace)
    largest = max(int(trace.cost[wanted.frame(f)].sum()) for f in range(len(trace))) + 3
    assert evaluate(Streaming(ahead, prefetch=ahead), trace, largest).late == 0


@given(seed=SEEDS, extra=st.integers(5, 30), upload=st.integers(5, 9))
def test_a_view_that_stays_settles_even_if_it_wants_more_than_the_pool(
    random_trace: MakeTrace, seed: int, extra: int, upload: int
):
    moving = random_trace(seed, parents=True, largest=5, frames=10)
    wanted = np.random.default_rng(seed).permutation(24)[:12]
    still = 40
    frames = np.concatenate([moving.frames, moving.frames[-1] + wanted.size * np.arange(1, still + 1)])
    demands = np.concatenate([moving.demands, *[wanted] * still])
    trace = Trace(frames, demands, moving.cost, parents=moving.parents)
    log = Streaming(upload_bytes=upload).run(trace, base_bytes(trace) + extra)
    assert log.frames[-1] == log.frames[-15], "the pool still changes after many frames of one view"


@pytest.mark.case(83)
@given(seed=SEEDS, upload=st.integers(5, 12))
def test_after_a_teleport_the_coarse_levels_come_first(random_trace: MakeTrace, seed: int, upload: int):
    trace = random_trace(seed, parents=True, largest=5, frames=12)
    assert trace.parents is not None
    pool = ResidentPool(trace.cost, trace.parents, pool_bytes=int(trace.cost.sum()), upload_bytes=upload)
    wanted = close_upward(trace)
    for frame in range(len(trace)):
        assert wanted.weights is not None
        weights = wanted.weights[wanted.frames[frame] : wanted.frames[frame + 1]]
        changes = pool.advance(wanted.frame(frame), weights)
        missing = set(changes.queued.tolist())
        assert pool.resident[:3].all()
        for item in wanted.frame(frame).tolist():
            above = int(trace.parents[item])
            assert pool.resident[item] or item in missing
            assert above < 0 or not pool.resident[item] or pool.resident[above]
        if changes.queued.size:
            left = upload - int(trace.cost[changes.loaded].sum())
            assert trace.cost[changes.queued[0]] > left, "the first of the queue would have fitted"


@given(seed=SEEDS)
def test_everything_wanted_is_loaded_within_so_many_frames(random_trace: MakeTrace, seed: int):
    trace = random_trace(seed, parents=True, largest=5)
    pool = ResidentPool(trace.cost, trace.parents, pool_bytes=int(trace.cost.sum()), upload_bytes=5)
    for _ in range(int(trace.cost.sum())):
        pool.advance(np.arange(24))
    changes = pool.advance(np.arange(24))
    assert changes.queued.size == 0
    assert pool.resident.all()


def test_prefetching_hides_loads_and_does_no_harm():
    trace = Trace(np.arange(13), np.array([0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5]), np.ones(6, np.int64))
    without, ahead = evaluate(Streaming(3, 1), trace, 4), evaluate(Streaming(3, 1, prefetch=3), trace, 4)
    assert without.faults == 6
    assert ahead.faults == 3
    assert ahead.loads == 6


def test_prefetching_never_evicts_what_is_needed_before():
    pool = ResidentPool([1, 1, 1], pool_bytes=2, prefetch=2)
    pool.advance([0])
    pool.advance([1])
    assert pool.advance([1], upcoming=[[0], [2]]).events.size == 0
    assert pool.advance([0], upcoming=[[2], [1]]).events.tolist() == [-2, 2]


def test_a_parent_stays_below_its_children_even_if_it_is_older():
    pool = ResidentPool([4, 4, 4, 4], [-1, 0, 1, 0], pool_bytes=12, prefetch=1)
    assert pool.advance([0], upcoming=[[0, 1, 2]]).loaded.tolist() == [1, 2]
    assert pool.advance([0, 3]).evicted.tolist() == [2]


def test_what_is_no_longer_wanted_stays_until_its_room_is_needed():
    pool = ResidentPool([2, 2, 2], pool_bytes=4)
    pool.advance([0])
    pool.advance([1])
    assert pool.used_bytes == 4
    changes = pool.advance([2])
    assert (changes.evicted.tolist(), changes.loaded.tolist()) == ([0], [2])


def test_reasons():
    pool = ResidentPool([4, 4, 4, 4, 4], [-1, 0, 0, 1, 2], pool_bytes=12, upload_bytes=4, prefetch=1)
    assert "no frame has wanted it" in str(pool.explain(1))
    pool.advance([0, 1, 3], [0, 8, 4])
    assert str(pool.explain(0)) == "item 0 is resident: the coarsest items always are"
    assert str(pool.explain(1)) == "item 1 is resident: this frame wants it, gain 8 for 4 bytes"
    assert str(pool.explain(3)) == "item 3 is queued: 0 items are loaded before it, 1 gain per byte"
    pool.advance([0, 1, 3])
    pool.advance([0], upcoming=[[0, 1]])
    assert "frame 3 will want it" in str(pool.explain(1))
    assert "last wanted in frame 1" in str(pool.explain(3))
    pool.advance([0, 2, 4])
    assert str(pool.explain(3)).startswith("item 3 is not resident: evicted in frame 3, last wanted by frame 1")
    assert str(pool.explain(4)) == "item 4 is queued: 0 items are loaded before it, 0.25 gain per byte"
    with pytest.raises(ArrayError):
        pool.explain(5)


def test_what_waits_for_its_parent_says_so():
    pool = ResidentPool([4, 4, 4, 4], [-1, 0, 1, 2], pool_bytes=16, upload_bytes=4)
    pool.advance([0, 1, 2, 3], [9, 9, 9, 2])
    waiting = pool.explain(3)
    assert (waiting.queue_position, waiting.missing_parent, waiting.priority) == (1, 2, 0.5)
    assert str(waiting).endswith("1 items are loaded before it, 0.5 gain per byte, after its parent 2")


def test_the_view_of_what_is_resident_is_read_only():
    pool = ResidentPool([1], pool_bytes=1)
    with pytest.raises(ValueError, match="read-only"):
        pool.resident[0] = True


BAD: dict[str, tuple[dict[str, Any], type[HraError]]] = {
    "free item": ({"cost": [0, 1, 1]}, ArrayError),
    "fraction of a byte": ({"cost": [1.5, 1, 1]}, ArrayError),
    "parents of another length": ({"parents": [-1]}, ArrayError),
    "pool below the coarsest": ({"pool_bytes": 3}, BudgetTooSmall),
    "upload below a page": ({"upload_bytes": 2}, BudgetTooSmall),
    "negative pool": ({"pool_bytes": -1}, InvalidBudget),
    "pool that is not a number": ({"pool_bytes": float("nan")}, InvalidBudget),
    "true as a pool": ({"pool_bytes": True}, InvalidBudget),
}


@pytest.mark.parametrize(("change", "error"), BAD.values(), ids=BAD.keys())
def test_impossible_pools_are_refused(change: dict[str, Any], error: type[HraError]):
    good: dict[str, Any] = {"cost": [4, 3, 3], "parents": [-1, 0, 1], "pool_bytes": 9}
    ResidentPool(**good)
    with pytest.raises(error):
        ResidentPool(**(good | change))


def test_impossible_frames_are_refused():
    pool = ResidentPool([4, 3, 3], [-1, 0, 1], pool_bytes=9)
    with pytest.raises(InvalidBudget, match="wants 10 bytes"):
        pool.advance([0, 1, 2])
    with pytest.raises(ArrayError, match="without its parent"):
        pool.advance([2])
    with pytest.raises(ArrayError):
        pool.advance([3])
    with pytest.raises(ArrayError):
        pool.advance([1], gain=[np.nan])
    assert pool.frame == -1, "a refused frame changes nothing"


def test_one_kind_is_compiled_whether_arrays_can_be_written_to():
    parents, few, known = np.array([-1, 0, 0], np.int32), np.array([0, 1], np.int32), []
    for queue in (few, read_only(few)):
        for soon in (few, read_only(few)):
            for above in (parents, read_only(parents)):
                pool_kernels.priority_order(queue, np.ones(2), np.array([4, 3, 3]), above)
                pool = ResidentPool(np.array([4, 3, 3]), above, pool_bytes=9)
                assert pool.serve(queue, np.ones(2), soon).loaded.tolist() == [1]
                known.append(kinds_compiled(pool_kernels.advance, pool_kernels._ranks))
    assert known == known[:1] * 8


def test_one_cannot_look_back():
    with pytest.raises(HraError):
        Streaming(-1)


def test_the_first_item_is_an_item():
    changes = FrameChanges(np.array([0, -1, 2, -3], np.int32), np.empty(0, np.int32))
    assert changes.loaded.tolist() == [0, 2] and changes.evicted.tolist() == [0, 2]


def test_a_pool_of_nothing_needs_no_bytes():
    pool = ResidentPool([], pool_bytes=0, upload_bytes=0)
    assert pool.advance([]).events.size == 0 and pool.used_bytes == 0


def test_nothing_is_prefetched_unless_asked_for():
    pool = ResidentPool([1, 1], pool_bytes=2)
    assert pool.advance([0], upcoming=[[1]]).loaded.tolist() == [0]
    asked = ResidentPool([1, 1], pool_bytes=2, prefetch=1)
    assert asked.advance([0], upcoming=[[1]]).loaded.tolist() == [0, 1]


def test_of_what_was_wanted_at_once_the_finest_goes_first():
    """All of one frame: a child before its parent, and what was loaded last before what was loaded first."""
    pool = ResidentPool([1, 1, 1, 1], [-2, 0, 1, -2], pool_bytes=3)
    pool.advance([0, 1, 2])
    assert pool.advance([3]).evicted.tolist() == [2]


def test_a_pool_of_one_page_serves_it():
    """Its parent was looked up behind the end of the array."""
    pool = ResidentPool([4], pool_bytes=4)
    assert pool.advance([0]).loaded.tolist() == [0] and pool.used_bytes == 4


@pytest.mark.parametrize("parents", [[0], [1, 0], [-1, 2, 3, 1], [-1, 2, 2]])
def test_parents_in_a_circle_are_refused(parents: list[int]):
    """The order of loading was looked for without end."""
    with pytest.raises(ArrayError, match="among its own ancestors"):
        ResidentPool([1] * len(parents), parents, pool_bytes=9)


def test_long_chains_of_parents_in_any_order_are_no_circles():
    for parents in (np.arange(1000) - 1, np.append(np.arange(1, 1000), -1)):
        assert ResidentPool(np.ones(1000), parents, pool_bytes=1).coarsest.size == 1


@pytest.mark.parametrize(
    "ready", [[True], [[True, True]], np.array([1, 0]), np.array([1.0, 0.0])], ids=["short", "2d", "int", "float"]
)
def test_what_says_no_true_or_false_of_each_item_is_refused(ready: Any):
    with pytest.raises(ArrayError, match="expected bool"):
        ResidentPool([1, 1], pool_bytes=2).advance([0], ready=ready)


def test_what_goes_for_what_is_wanted_comes_back_only_if_its_data_is_there():
    """Room for 3 goes by 2 and 0; then 1, wanted later than 0, may go for it."""
    for ready, events in ((True, [-3, -1, 3, -2, 0]), (False, [-3, -1, 3])):
        pool = ResidentPool([1, 1, 1, 2], [-2, -2, 1, -2], pool_bytes=3, prefetch=1)
        pool.advance([0, 1, 2])
        changes = pool.advance([3], upcoming=[[0], [1, 2]], ready=np.array([ready, True, True, True]))
        assert changes.events.tolist() == events


def test_numbers_below_0_and_of_no_kind_are_refused():
    with pytest.raises(ArrayError, match=r"gain\[1\] = -2.0 is below 0"):
        ResidentPool([1, 1], pool_bytes=2).advance([0, 1], [1, -2])
    for wrong in (None, "8", np.nan, True):
        with pytest.raises(InvalidBudget, match="pool_bytes must be a number"):
            ResidentPool([1], pool_bytes=wrong)  # pyright: ignore[reportArgumentType]
    for wrong in (-1, 1.5, None):
        with pytest.raises(HraError, match="frames ahead"):
            ResidentPool([1], pool_bytes=1, prefetch=wrong)  # pyright: ignore[reportArgumentType]


def test_costs_whose_sum_overflows_are_refused():
    """2**64 bytes counted as none."""
    with pytest.raises(ArrayError, match="2\\*\\*62"):
        ResidentPool([2**61] * 8, [-1] * 8, pool_bytes=100)


@pytest.mark.parametrize("wrong", [{"prefetch": -1}, {"hysteresis": np.nan}, {"hysteresis": -2.0}, {"look_ahead": 0.5}])
def test_numbers_that_streaming_cannot_use_are_refused(wrong: dict[str, Any]):
    with pytest.raises(HraError, match="use 0 or more"):
        Streaming(**wrong)


def test_bytes_above_2_to_the_53_are_counted_to_the_last():
    pool = ResidentPool([2**53 + 1, 2**53 + 3], [-1, 0], pool_bytes=2**54 + 4)
    assert (pool.used_bytes, pool.advance([0, 1]).loaded.tolist(), pool.used_bytes) == (2**53 + 1, [1], 2**54 + 4)
    with pytest.raises(BudgetTooSmall):
        ResidentPool([2**53 + 1], [-1], pool_bytes=2**53)


def test_what_cannot_be_loaded_yet_was_wanted_all_the_same():
    pool = ResidentPool([4, 4], [-1, 0], pool_bytes=8)
    pool.advance([0, 1], ready=np.array([True, False]))
    assert pool.explain(1).wanted_at == 0
    pool.advance([0])
    assert str(pool.explain(1)) == "item 1 is not resident: it is no longer wanted"


def test_what_was_loaded_ahead_in_vain_says_so():
    pool = ResidentPool([4, 4], [-1, 0], pool_bytes=8, prefetch=1)
    pool.advance([0], upcoming=[[0, 1]])
    pool.advance([0])
    assert pool.explain(1).resident and "loaded ahead and no frame has wanted it" in str(pool.explain(1))


def test_what_is_no_list_of_frames_to_come_is_refused():
    with pytest.raises(HraError, match="upcoming must be a Sequence"):
        ResidentPool([4], pool_bytes=8).advance([0], upcoming=3)  # pyright: ignore
