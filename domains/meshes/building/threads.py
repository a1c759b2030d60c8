"""The threads of one build."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def processors() -> int:
    """How many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux knows affinity
        return os.cpu_count() or 1


def batches(count: int, size: int) -> list[range]:
    """The numbers 0 .. count - 1 in runs of ``size``. They do not depend on the threads, so neither do results."""
    return [range(begin, min(begin + size, count)) for begin in range(0, count, size)]


class Workers:
    """Threads that live as long as the ``with`` block; work that shall gain from them releases the GIL."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads, "hra-build") if threads > 1 else None

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool:
            self._pool.shutdown(cancel_futures=True)

    def map(self, work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        """``work`` of every item, in their order whatever the number of threads."""
        return self._pool.map(work, items) if self._pool and len(items) > 1 else map(work, items)
