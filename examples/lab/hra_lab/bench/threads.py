"""How many threads the library's kernels may use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from numba import config

_LIMIT = "NUMBA_NUM_THREADS"


@contextmanager
def kernel_threads(count: int) -> Iterator[None]:
    """Have kernels use at most ``count`` threads, as the environment variable NUMBA_NUM_THREADS does at the start."""
    before = getattr(config, _LIMIT)
    setattr(config, _LIMIT, count)
    try:
        yield
    finally:
        setattr(config, _LIMIT, before)
