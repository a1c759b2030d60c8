from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.errors import HraError
from hra.residency import LRU, Log, Streaming, Trace, evaluate
from hra.residency.replay.evaluation import evaluate_log

TRACE = Trace(np.array([0, 2, 3, 5]), np.array([0, 1, 2, 0, 2]), np.array([4, 3, 2]), parents=np.array([-1, 0, 0]))


def log(*frames: list[int]) -> Log:
    offsets = np.cumsum([0, *map(len, frames)])
    return Log(np.array([event for frame in frames for event in frame], np.int32), offsets, np.array([0, 1, 0]))


def test_a_log_is_counted():
    result = evaluate_log("by hand", log([0, 1], [-2, 2, -3], [2]), TRACE, 7)
    assert (result.loads, result.evictions, result.thrash) == (4, 2, 1)
    assert (result.faults, result.late, result.refused) == (4, 1, 1)
    assert result.peak_bytes == 7
    assert result.resident_bytes.tolist() == [7, 4, 6]
    assert result.loaded_bytes.tolist() == [7, 2, 2]
    assert result.orphans == 0
    assert result.fault_rate == 4 / 5
    assert result.summary()["bytes"] == 11
    assert repr(result) == "by hand: 4 loads, 1 of them thrash, 1 refused"


def test_a_log_tells_what_each_frame_ends_with():
    held = log([0, 1], [-2, 2, -3, 1, -2], [2]).residents(3)
    assert [now.tolist() for now in held] == [[True, True, False], [True, False, False], [True, False, True]]


def test_children_without_parents_are_counted():
    assert evaluate_log("orphans", log([1, 0, -1], [], []), TRACE, 7).orphans == 2


def test_what_comes_back_after_the_window_is_no_thrash():
    trace = Trace(np.zeros(63, np.int64), np.empty(0, np.int32), np.ones(1, np.int64))
    apart = [[0, -1], *([[]] * 60), [0]]
    offsets = np.cumsum([0, *map(len, apart)])
    for late, thrash in ((0, 0), (1, 1)):
        frames = offsets.copy()
        frames[61 if late else 62 :] = 3
        found = evaluate_log("window", Log(np.array([0, -1, 0], np.int32), frames, np.zeros(62)), trace, 1)
        assert found.thrash == thrash


WRONG = {
    "more than the pool": log([0, 1, 2], [], []),
    "loaded twice": log([0, 0], [], []),
    "evicted in vain": log([-1], [], []),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG.keys())
def test_a_log_that_breaks_the_rules_is_refused(wrong: Log):
    with pytest.raises(HraError, match="broke the rules"):
        evaluate_log("wrong", wrong, TRACE, 8)


def test_a_negative_pool_is_refused():
    with pytest.raises(HraError, match="pool"):
        evaluate(LRU(), TRACE, -1)


@given(seed=st.integers(0, 10**6), pool=st.integers(12, 40))
def test_counts_agree_with_sets(random_trace: Callable[..., Trace], seed: int, pool: int):
    trace = random_trace(seed, parents=True, largest=4)
    result, record = evaluate(Streaming(), trace, pool), Streaming().run(trace, pool)
    held: set[int] = set()
    faults = late = 0
    for frame in range(len(trace)):
        wanted = set(trace.frame(frame).tolist())
        faults += len(wanted - held)
        for event in record.events[record.frames[frame] : record.frames[frame + 1]].tolist():
            held = held | {event} if event >= 0 else held - {-1 - event}
        late += len(wanted - held)
        assert result.resident_bytes[frame] == sum(int(trace.cost[item]) for item in held)
    assert (result.faults, result.late) == (faults, late)
