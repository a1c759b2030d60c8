from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from hra.errors import HraError, InvalidBudget
from hra.residency import LRU, Log, Trace, evaluate
from hra.residency.replay.evaluation import evaluate_log
from tests.helpers.evaluation_cases import TRACE, log


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


def test_a_negative_pool_is_refused():
    with pytest.raises(HraError, match="pool"):
        evaluate(LRU(), TRACE, -1)


@pytest.mark.parametrize("pool", [float("nan"), None, "7", True])
def test_pools_that_are_no_numbers_are_refused(pool: Any):
    """With NaN everything was held."""
    with pytest.raises(InvalidBudget, match="pool must be a number"):
        evaluate(LRU(), TRACE, pool)


def test_the_largest_pools_hold_everything():
    for pool in (10**30, math.inf):
        assert evaluate(LRU(), TRACE, pool).evictions == 0  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("event", [99, -99])
def test_events_of_items_that_are_not_there_break_the_rules(event: int):
    """They were counted, by what lay behind the arrays."""
    with pytest.raises(HraError, match="broke the rules"):
        evaluate_log("strange", log([0, event], [], []), TRACE, 7)


@pytest.mark.parametrize("frames", [[0, 1], [0, 5, 5, 5], [0, -1, 1, 1], [1, 1, 1, 1], [0, 0, 0, 0]])
def test_logs_of_other_frames_are_refused(frames: list[int]):
    with pytest.raises(HraError, match="frames"):
        evaluate_log("strange", Log(np.zeros(1, np.int32), np.array(frames), np.zeros(len(frames) - 1)), TRACE, 7)


@pytest.mark.parametrize("refused", [[-5, 0, 0], [0.5, 0, 0], [math.nan, 0, 0]], ids=str)
def test_what_was_refused_is_counted_from_zero_on(refused: list[float]):
    with pytest.raises(HraError):
        evaluate_log("strange", Log(np.zeros(1, np.int32), np.array([0, 1, 1, 1]), np.array(refused)), TRACE, 7)


def test_numbers_that_wrap_around_are_no_events():
    """2**64 - 1 was the eviction of item 0."""
    events = np.array([0, 2**64 - 1], np.uint64)
    with pytest.raises(HraError, match="log whole numbers"):
        evaluate_log("strange", Log(events, np.array([0, 2, 2, 2]), np.zeros(3, np.int64)), TRACE, 7)


def test_logs_may_be_lists():
    as_lists: Any = Log([0], [0, 1, 1, 1], [0, 0, 0])  # pyright: ignore[reportArgumentType]
    assert evaluate_log("lists", as_lists, TRACE, 7).loads == 1


def test_other_things_than_policies_traces_and_logs_are_named():
    nothing: Any = None
    for call in (
        lambda: evaluate(nothing, TRACE, 7),
        lambda: evaluate(LRU(), nothing, 7),
        lambda: evaluate_log("none", nothing, TRACE, 7),
    ):
        with pytest.raises(HraError, match="must be a"):
            call()
