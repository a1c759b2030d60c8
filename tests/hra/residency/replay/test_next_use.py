"""What is known of the future, against a search of the trace."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hra.residency import Trace
from hra.residency.replay.next_use import NextUse


@given(seed=st.integers(0, 10**6), ahead=st.integers(0, 40), count=st.integers(0, 40))
def test_the_next_known_frame_of_every_item(random_trace: Callable[..., Trace], seed: int, ahead: int, count: int):
    trace = random_trace(seed)
    next_use, coming = NextUse(trace, ahead), np.full(trace.cost.size, -1, np.int64)
    for frame in range(len(trace)):
        next_use.update(coming, frame)
        known = range(frame + 1, min(frame + ahead, len(trace) - 1) + 1)
        for item in range(trace.cost.size):
            expected = next((k for k in known if item in trace.frame(k)), None)
            assert coming[item] == expected if expected is not None else coming[item] <= frame
        soon = [trace.frame(k) for k in known[:count]]
        assert next_use.soon(frame, count).tolist() == np.concatenate([[], *soon]).tolist()
