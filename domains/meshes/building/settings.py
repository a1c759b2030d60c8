"""What a build is run with: its settings, its threads, and who is told how far it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import TypeVar

from hra.domains.meshes.mesh.meshopt import MAX_TRIANGLES
from hra.errors import check_function
from hra.model.arrays import whole_in

# Called with the triangles that are simplified away and the triangles of the source; the first rises to the second.
Progress = Callable[[int, int], None]

_CLUSTER_SIZES, _GROUP_SIZES = range(16, MAX_TRIANGLES + 1, 4), range(3, 65)
# Calls of one build at most, except for the last: drawing a bar may take longer than a group.
_CALLS = 200
Item = TypeVar("Item")
Result = TypeVar("Result")


class Countdown:
    """Counts triangles and tells it from time to time.

    The source's triangles less those of the surface so far measure the work well: the first level is half of both.
    """

    def __init__(self, total: int, tell: Progress | None) -> None:
        if tell is not None:
            check_function("progress", tell, "pass a function of (done, total), or None")
        self._total, self._tell = total, tell
        self._done = self._told = 0

    def advance(self, triangles: int) -> None:
        """``triangles`` fewer are left."""
        self._done += triangles
        if self._tell and self._done - self._told >= self._total / _CALLS:
            self._told = self._done
            self._tell(self._done, self._total)

    def finish(self) -> None:
        """The build is done, however many triangles are left."""
        if self._tell:
            self._tell(self._total, self._total)


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


@dataclass(frozen=True)
class Settings:
    """What decides the result; see `hra.domains.meshes.build`."""

    cluster_size: int
    group_size: int
    certified: bool

    def __post_init__(self) -> None:
        object.__setattr__(self, "cluster_size", whole_in("cluster_size", self.cluster_size, _CLUSTER_SIZES))
        object.__setattr__(self, "group_size", whole_in("group_size", self.group_size, _GROUP_SIZES))
