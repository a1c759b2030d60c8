from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hra
from hra.errors import ArrayError
from hra.residency import Trace

GOOD: dict[str, Any] = {"frames": [0, 2, 3], "demands": [0, 1, 1], "cost": [4, 5]}
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no first offset": ({"frames": []}, "frames"),
    "offsets that do not begin at 0": ({"frames": [1, 3]}, "frames"),
    "offsets that do not end at the demands": ({"frames": [0, 2]}, "frames"),
    "offsets that fall": ({"frames": [0, 3, 2, 3]}, "frames"),
    "unknown item": ({"demands": [0, 2, 1]}, "demands[1]"),
    "fractional item": ({"demands": [0.0, 0.5, 1.0]}, "demands[1]"),
    "item twice in a frame": ({"demands": [1, 1, 0]}, "demands[1]"),
    "free item": ({"cost": [4, 0]}, "cost[1]"),
    "too many bytes": ({"cost": [2**53, 2**53]}, "cost"),
    "negative weight": ({"weights": [1, -1, 1]}, "weights[1]"),
    "weight that is not a number": ({"weights": [1, np.nan, 1]}, "weights[1]"),
    "weights of another length": ({"weights": [1]}, "weights"),
    "parents of another length": ({"parents": [-1]}, "parents"),
    "parent that comes later": ({"parents": [1, -1]}, "parents[0]"),
    "parent out of range": ({"parents": [-1, 7]}, "parents[1]"),
}


def test_a_trace_tells_its_size():
    trace = Trace(**GOOD)
    assert (len(trace), trace.distinct, trace.per_frame) == (2, 2, 1.5)
    assert trace.frame(0).tolist() == [0, 1]
    assert repr(trace) == "2 frames, 3 references to 2 items, 1.5 per frame"


def test_an_empty_trace_is_a_trace():
    trace = Trace(**{"frames": [0], "demands": [], "cost": []})
    assert (len(trace), trace.per_frame) == (0, 0)


def test_what_was_given_may_change_later():
    demands = np.array([0, 1, 1], np.int32)
    trace = Trace(GOOD["frames"], demands, GOOD["cost"])
    demands[0] = 1
    assert trace.demands[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        trace.demands[0] = 1


@pytest.mark.parametrize(("change", "where"), BAD.values(), ids=BAD.keys())
def test_invalid_arrays_are_named(change: dict[str, Any], where: str):
    with pytest.raises(ArrayError) as error:
        Trace(**(GOOD | change))
    assert error.value.where == where


def test_costs_of_a_hierarchy_are_whole_floats_and_count_as_such():
    costs = hra.Hierarchy.chains([2], [4, 16], cost_unit="bytes").node_cost
    trace = Trace(np.array([0.0, 2.0]), np.array([0, 1]), costs)
    assert (trace.cost.dtype, trace.cost.tolist(), trace.frames.tolist()) == (np.int64, [4, 16], [0, 2])
    for cost in (4.5, np.nan):
        with pytest.raises(ArrayError, match="integers"):
            Trace(np.array([0, 1]), np.array([0]), np.array([cost]))


@pytest.mark.parametrize("index", [-1, 2, 0.5, 2**40])
def test_a_frame_that_is_not_there_is_refused(index):
    with pytest.raises(ArrayError, match="index"):
        Trace(np.array([0, 1, 1]), np.array([0]), np.array([4])).frame(index)


def test_costs_may_add_up_to_as_much_as_a_float_counts():
    trace = Trace(**{"frames": [0], "demands": [], "cost": [2**52, 2**52]})
    assert trace.cost.sum() == 2**53
