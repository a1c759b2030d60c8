from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from hra.residency import Trace, close_upward


@given(seed=st.integers(0, 10**6))
def test_every_frame_gets_its_ancestors_and_their_weights(random_trace: Callable[..., Trace], seed: int):
    trace = random_trace(seed, parents=True, largest=5)
    assert trace.parents is not None and trace.weights is not None
    full = close_upward(trace)
    assert full.weights is not None
    for frame in range(len(trace)):
        expected: dict[int, float] = {}
        for item, weight in zip(trace.frame(frame), trace.weights[trace.frames[frame] :], strict=False):
            while item >= 0:
                expected[int(item)] = expected.get(int(item), 0.0) + weight
                item = trace.parents[item]
        found = full.frame(frame).tolist()
        weights = full.weights[full.frames[frame] : full.frames[frame + 1]].tolist()
        assert dict(zip(found, weights, strict=True)) == expected
        position = {item: k for k, item in enumerate(found)}
        assert all(position.get(int(trace.parents[item]), -1) < position[item] for item in found)


def test_items_without_parents_stay_as_they_are(random_trace: Callable[..., Trace]):
    trace = random_trace(3)
    assert [sorted(close_upward(trace).frame(f)) for f in range(30)] == [sorted(trace.frame(f)) for f in range(30)]
