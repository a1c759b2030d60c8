from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hra.residency.live.recency import append, empty_lists, evict_oldest, take_out


@given(st.lists(st.integers(0, 5), max_size=40), st.integers(0, 3))
def test_lists_evict_what_a_queue_does(used: list[int], lists: int):
    lists += 1
    before, after = empty_lists(6, lists)
    queues: list[list[int]] = [[] for _ in range(lists)]
    for item in used:
        for queue in queues:
            if item in queue:
                take_out(before, after, item)
                queue.remove(item)
        which = item % lists
        append(before, after, item, 6 + which)
        queues[which].append(item)
    for which, queue in enumerate(queues):
        events = np.zeros(1, np.int64)
        for oldest in queue:
            assert evict_oldest(before, after, 6 + which, events, 0) == oldest
            assert events[0] == -1 - oldest
        assert after[6 + which] == 6 + which
