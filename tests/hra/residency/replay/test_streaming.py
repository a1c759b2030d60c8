from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from hra.residency import Streaming, Trace, evaluate


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
