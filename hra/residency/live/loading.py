"""Reads items ahead of their upload: on threads, within bounded memory, with failures that are retried.

A `Reading` says by what, within how many bytes, and when again after a failure.
"""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import Future as _Future
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from hra.errors import ArrayError, BudgetTooSmall, FileError, HraError, check_kind
from hra.model.arrays import frozen, indices, is_number, numbers
from hra.residency.live.pool import byte_limit
from hra.traversals.base import is_whole


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
        numeric = is_number(self.first) and is_number(self.most)
        if not (numeric and 0 < self.first <= self.most < np.inf):
            raise HraError(
                f"cannot wait from {self.first!r} to {self.most!r} seconds",
                where="Backoff",
                fix="use 0 < first <= most",
            )

    def seconds(self, failures: int) -> float:
        """How long to wait after this many failures in a row."""
        return min(self.first * 2.0 ** min(failures - 1, 60), self.most)


@dataclass(frozen=True)
class ReadFailure:
    """A read that failed. It is reported when it first fails, and again only after it has succeeded in between.

    Attributes
    ----------
    item : what could not be read; error : why, also a `SystemExit` of what reads, or that the executor took no call;
        retry_at : when it is tried again, by the loader's clock.
    """

    item: int
    error: BaseException
    retry_at: float

    def __str__(self) -> str:
        return f"item {self.item} could not be read, and will be tried again: {type(self.error).__name__}: {self.error}"


@dataclass(frozen=True, eq=False)
class Reading:
    """How the items of a `SharedResidency` are read.

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


@dataclass
class _Failures:
    """Failures in a row of one item, and when it may be tried again."""

    count: int
    retry_at: float


class Loader:
    """Requests, reads in flight and data that has arrived, never more than a limit of bytes together.

    Whoever uses it calls from one thread: `collect` what has arrived, take and `release` what was uploaded, then
    `request` what is wanted next. What is requested no more is cancelled, or dropped when its read ends: until then its
    bytes count.

    Parameters
    ----------
    reading : how items are read.

    Raises
    ------
    ArrayError : bytes that are not numbers above 0.
    InvalidBudget : a limit that is not a number >= 0.
    HraError : no thread, or something else in the place of the reading or of what it calls.
    BudgetTooSmall : the limit does not hold the largest item.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.residency import Loader, Reading
    >>> with Loader(Reading(lambda item: item * item, held_bytes=np.full(9, 10), limit_bytes=20)) as loader:
    ...     loader.request([3, 5, 7])
    ...     while len(loader.arrived) < 2:
    ...         failures = loader.collect()
    ...     print(sorted(loader.arrived.items()), loader.held_bytes)
    [(3, 9), (5, 25)] 20
    """

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        fix = "call Loader(Reading(read, held_bytes, limit_bytes))"
        check_kind("reading", reading, Reading, fix)
        if not callable(reading.read):
            raise HraError(f"read must be a function, got {reading.read!r:.80}", where="read", fix=fix)
        read = numbers("held_bytes", reading.held_bytes)
        if read.min(initial=1.0) <= 0:
            where = f"held_bytes[{int(read.argmin())}]"
            raise ArrayError(f"{where} = {read.min():g} bytes", where=where, fix="pass what each item takes, above 0")
        if reading.executor is None and not (is_whole(reading.threads) and reading.threads >= 1):
            raise HraError(f"cannot read on {reading.threads!r} threads", where="threads", fix="use 1 or more")
        largest = math.ceil(read.max(initial=0.0))
        if largest > byte_limit("limit_bytes", reading.limit_bytes):
            what = f"an item takes {largest:,} bytes during loading, the limit is {reading.limit_bytes:,}"
            raise BudgetTooSmall(what, where="limit_bytes", fix=f"use at least {largest}")
        self._bytes = frozen(np.ceil(read).astype(np.int64))
        self._closed = False
        self._own = ThreadPoolExecutor(reading.threads, "hra-loader") if reading.executor is None else None
        self._executor: Executor = self._own or reading.executor  # pyright: ignore[reportAttributeAccessIssue]
        self._flying: dict[int, Future] = {}
        self._stale: dict[int, Future] = {}
        self._failures: dict[int, _Failures] = {}
        self.arrived: dict[int, Any] = {}
        self.held_bytes = 0

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Cancel what has not begun, and end the threads once their reads are done."""
        self.request(())
        self._closed = True
        if self._own is not None:
            self._own.shutdown(wait=False, cancel_futures=True)

    def read_now(self, item: int) -> Any:
        """The data of an item, read while the caller waits.

        Raises
        ------
        FileError : it could not be read in three tries.
        """
        for tries_left in (2, 1, 0):
            try:
                return self.reading.read(item)
            except (Exception, SystemExit) as error:
                if not tries_left:
                    what = f"item {item} is always held and cannot be read: {error}"
                    raise FileError(what, where=f"item {item}", fix="check the file, and open it again") from error
        raise AssertionError

    def collect(self) -> list[ReadFailure]:
        """Take in what has been read since the last call; what failed for the first time."""
        failures = []
        for item in [item for item, future in self._flying.items() if future.done()]:
            future = self._flying.pop(item)
            try:
                data, error = future.result()
            except Exception as refused:  # of the executor
                data, error = None, refused.with_traceback(None)
            if error is None:
                self.arrived[item] = data
                self._failures.pop(item, None)
            else:
                failures += self._failed(item, error)
        self._forget_stale()
        return failures

    def _failed(self, item: int, error: BaseException) -> list[ReadFailure]:
        self.held_bytes -= int(self._bytes[item])
        count = self._failures[item].count + 1 if item in self._failures else 1
        retry_at = self.reading.clock() + self.reading.backoff.seconds(count)
        self._failures[item] = _Failures(count, retry_at)
        return [ReadFailure(item, error, retry_at)] if count == 1 else []

    def _forget_stale(self) -> None:
        for item in [item for item, future in self._stale.items() if future.done()]:
            del self._stale[item]
            self.held_bytes -= int(self._bytes[item])

    def release(self, item: int) -> None:
        """Drop the data of an item that was uploaded."""
        del self.arrived[item]
        self.held_bytes -= int(self._bytes[item])

    def request(self, items: Sequence[int]) -> None:
        """Begin to read ``items``, most important first, as far as the limit allows; cancel all others.

        What is less important makes room. A large item is not overtaken by smaller ones: it waits for its turn.

        Raises
        ------
        ArrayError : no such items.
        HraError : the loader is closed.
        """
        items = list(dict.fromkeys(indices("items", items, 0, self._bytes.size).tolist()))
        if items and self._closed:
            raise HraError("the loader is closed", where="request", fix="make another one")
        kept, now = set(items), self.reading.clock()
        for item in [*self.arrived, *self._flying]:
            if item not in kept:
                self._drop(item)
        least = len(items)
        for place, item in enumerate(items):
            if item in self._stale:
                self._flying[item] = self._stale.pop(item)
            if item in self.arrived or item in self._flying or self._waits(item, now):
                continue
            while self._lacks_room(item) and least > place + 1:
                least -= 1
                self._drop(items[least])
            if self._lacks_room(item):
                return
            self._flying[item] = self._submit(item)
            self.held_bytes += int(self._bytes[item])

    def _submit(self, item: int) -> Future:
        """The read of an item; one that has failed where the executor takes no call, so that it is reported, too."""
        try:
            return self._executor.submit(partial(_read, self.reading.read), item)
        except Exception as error:
            refused: _Future[Any] = _Future()
            refused.set_exception(error)
            return refused

    def _lacks_room(self, item: int) -> bool:
        return self.held_bytes + int(self._bytes[item]) > self.reading.limit_bytes

    def _waits(self, item: int, now: float) -> bool:
        return item in self._failures and now < self._failures[item].retry_at

    def _drop(self, item: int) -> None:
        """Let go of an item; the bytes of a read that has begun count until it ends."""
        if item in self.arrived:
            self.release(item)
        elif item in self._flying:
            future = self._flying.pop(item)
            if future.cancel():
                self.held_bytes -= int(self._bytes[item])
            else:
                self._stale[item] = future


def _read(read: Callable[[int], Any], item: int) -> tuple[Any, BaseException | None]:
    """The data of an item, or why there is none.

    An error that is raised to the collecting thread would hold, by the frames of its traceback, the data of all other
    items, and what the read had made before it failed.
    """
    try:
        return read(item), None
    except (Exception, SystemExit) as error:  # what ends a thread ends no program
        traceback.clear_frames(error.__traceback__)
        return None, error
