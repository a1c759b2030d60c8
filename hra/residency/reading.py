"""How items are read: by what, within how many bytes, and when again after a failure."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from hra.errors import HraError


class Future(Protocol):
    """What an executor gives back, such as `concurrent.futures.Future`."""

    def done(self) -> bool:
        """Whether the call has ended."""
        ...

    def cancel(self) -> bool:
        """Keep the call from beginning; whether that was in time."""
        ...

    def result(self) -> Any:
        """What the call returned; raises what it raised."""
        ...


class Executor(Protocol):
    """What runs reads, such as `concurrent.futures.ThreadPoolExecutor`."""

    def submit(self, call: Callable[[int], Any], item: int, /) -> Future:
        """Call ``call(item)`` some time later."""
        ...


@dataclass(frozen=True)
class Backoff:
    """When a read that failed is tried again: after ``first`` seconds, then each time twice as long, at most ``most``.

    Raises
    ------
    HraError : a time that is not above 0.

    Examples
    --------
    >>> from hra.residency import Backoff
    >>> [Backoff(first=0.5, most=3.0).seconds(failures) for failures in (1, 2, 3, 4)]
    [0.5, 1.0, 2.0, 3.0]
    """

    first: float = 0.25
    most: float = 30.0

    def __post_init__(self) -> None:
        if not 0 < self.first <= self.most < np.inf:
            raise HraError(
                f"a wait from {self.first} to {self.most} seconds is invalid",
                where="Backoff",
                fix="use 0 < first <= most",
            )

    def seconds(self, failures: int) -> float:
        """How long to wait after so many failures in a row."""
        return min(self.first * 2.0 ** min(failures - 1, 60), self.most)


@dataclass(frozen=True)
class ReadFailure:
    """A read that failed. It is reported when it first fails, and again only after it has succeeded in between.

    Attributes
    ----------
    item : what could not be read; error : why; retry_at : when it is tried again, by the loader's clock.
    """

    item: int
    error: Exception
    retry_at: float

    def __str__(self) -> str:
        return f"item {self.item} could not be read, and will be tried again: {type(self.error).__name__}: {self.error}"


@dataclass(frozen=True, eq=False)
class Reading:
    """How the items of a lane are read.

    Attributes
    ----------
    read : gives the data of an item; it may be slow, runs on several threads at once, and raises what it cannot read
        or what it reads wrongly.
    held_bytes : [N], what each item takes in memory from its request to its upload, > 0.
    limit_bytes : the most that all items together take between request and upload.
    threads : how many reads run at once.
    backoff : when reads that failed are tried again.
    executor : what runs the reads; None for threads of its own.
    clock : seconds, for the retries.
    """

    read: Callable[[int], Any]
    held_bytes: np.ndarray
    limit_bytes: int
    threads: int = 2
    backoff: Backoff = Backoff()
    executor: Executor | None = None
    clock: Callable[[], float] = time.monotonic
