from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hra.files.ply.columns import joined_runs


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5)), max_size=8))
def test_runs_follow_each_other(runs: list[tuple[int, int]]):
    values = np.arange(100, 130)
    begin, lengths = (np.array([run[i] for run in runs], np.int64) for i in (0, 1))
    joined, offsets = joined_runs(values, begin, lengths)
    assert joined.tolist() == [int(v) for b, n in runs for v in values[b : b + n]]
    assert offsets.tolist() == [sum(n for _, n in runs[:i]) for i in range(len(runs) + 1)]
