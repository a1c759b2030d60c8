"""Work in parts that stay in the cache, rows of images or ranges of an array, by one thread or several.

The threads are Python's and live as long as one call: nothing survives a fork, calls from several threads do not meet,
and since a part writes only what is its own, the result does not depend on how many threads there are. Numba's own
threading layers give none of these three.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numba import config

# A block is in the cache with what is made of it; larger ones, which the next cache holds, need fewer calls.
BLOCK_BYTES, _LARGEST = 2**20, 2**22
# Below this a second thread costs more than it saves.
_BYTES_PER_THREAD = 2**21
# More jobs than threads: a core that is busy elsewhere holds up one job, not half of the work.
_JOBS_PER_THREAD = 4
_RANGE = 2**14

_own = threading.local()

Part = TypeVar("Part")


@dataclass(frozen=True)
class Block:
    """Rows [first, last) of images [begin, end)."""

    begin: int
    end: int
    first: int
    last: int


def split(images: int, rows: int, bytes_per_row: int, multiple: int = 1) -> list[Block]:
    """Blocks of one to four megabytes, of which each thread gets some: several images, or rows of one.

    Of the rows, ``multiple`` stay together.
    """
    size = images * rows * bytes_per_row // (_threads() * _JOBS_PER_THREAD)
    size = min(max(size, BLOCK_BYTES), _LARGEST)
    together = size // max(rows * bytes_per_row, 1)
    if together > 0:
        return [Block(begin, min(begin + together, images), 0, rows) for begin in range(0, images, together)]
    step = max(size // (bytes_per_row * multiple), 1) * multiple
    return [
        Block(image, image + 1, first, min(first + step, rows))
        for image in range(images)
        for first in range(0, rows, step)
    ]


def ranges(count: int) -> list[slice]:
    """Some thousand entries each of ``count``."""
    return [slice(begin, min(begin + _RANGE, count)) for begin in range(0, count, _RANGE)]


def for_each(parts: list[Part], size: int, work: Callable[[Part], None]) -> None:
    """Call ``work`` for every part, of ``size`` bytes in all; it must release the GIL to gain from threads.

    As many threads as the environment variable NUMBA_NUM_THREADS says, by default one per core of this process; work
    that itself comes here gets no further ones.
    """
    threads = min(_threads(), size // _BYTES_PER_THREAD, len(parts))
    if threads <= 1 or getattr(_own, "is_worker", False):
        _in_turn(parts, work)
        return
    ends = np.linspace(0, len(parts), min(threads * _JOBS_PER_THREAD, len(parts)) + 1).astype(int)
    with ThreadPoolExecutor(threads) as pool:
        jobs = [pool.submit(_as_worker, parts[a:b], work) for a, b in pairwise(ends)]
        for job in jobs:
            job.result()


def _threads() -> int:
    return config.NUMBA_NUM_THREADS  # pyright: ignore[reportAttributeAccessIssue]


def _as_worker(parts: list[Part], work: Callable[[Part], None]) -> None:
    _own.is_worker = True  # the thread ends with the pool
    _in_turn(parts, work)


def _in_turn(parts: list[Part], work: Callable[[Part], None]) -> None:
    for part in parts:
        work(part)
