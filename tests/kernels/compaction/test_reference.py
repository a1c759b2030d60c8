from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.kernels.compaction import numba_backend, reference

BACKENDS = pytest.mark.parametrize("backend", [reference, numba_backend])


@BACKENDS
@given(st.integers(1, 30), st.integers(1, 3), st.integers(0, 10**6))
def test_what_is_fine_enough_under_a_parent_that_is_not(backend: Any, count: int, views: int, seed: int):
    rng = np.random.default_rng(seed)
    parent = np.array([rng.integers(-1, v) if v else -1 for v in range(count)], np.int32)
    error, tolerance = (
        rng.integers(0, 5, (views, count)).astype(np.float32),
        rng.integers(0, 5, views).astype(np.float32),
    )
    expected = [
        [bool(e[v] <= t and (parent[v] < 0 or e[parent[v]] > t)) for v in range(count)]
        for e, t in zip(error, tolerance, strict=True)
    ]
    assert backend.threshold_cut(parent, error, tolerance).tolist() == expected


@BACKENDS
@given(st.lists(st.booleans(), max_size=50))
def test_a_list_of_what_is_set(backend: Any, flags: list[bool]):
    found = backend.compact(np.array(flags, np.bool_))
    assert found.tolist() == [i for i, flag in enumerate(flags) if flag]
    assert found.dtype == np.int32
