"""What a residency policy is: a trace and a pool in, a log of loads and evictions out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from hra.errors import check_kind
from hra.residency.live.pool import byte_limit
from hra.residency.replay.trace import Trace


@dataclass(frozen=True, eq=False)
class Log:
    """What a policy did, in order.

    Attributes
    ----------
    events : int32 [E], item ``i`` was loaded (``i``) or evicted (``-1 - i``).
    frames : int64 [F + 1], frame f did ``events[frames[f]:frames[f + 1]]``.
    refused : int64 [F], demands that were turned away because the pool was full.
    """

    events: np.ndarray
    frames: np.ndarray
    refused: np.ndarray

    def residents(self, count: int) -> Iterator[np.ndarray]:
        """What of ``count`` items is resident at the end of each frame: F arrays, bool [count]."""
        held = np.zeros(count, np.bool_)
        for first, last in pairwise(self.frames):
            # One by one: an item may be loaded and evicted in one frame.
            for event in self.events[first:last].tolist():
                held[event if event >= 0 else -1 - event] = event >= 0
            yield held.copy()


class Policy(ABC):
    """Decides what is loaded and evicted while a trace runs; subclasses are frozen dataclasses."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What tables call it."""

    @abstractmethod
    def run(self, trace: Trace, pool: int) -> Log:
        """Serve every demand of ``trace`` in order, holding at most ``pool`` bytes.

        Raises
        ------
        HraError : the trace is none. InvalidBudget : the pool is not a number >= 0.
        """


def checked_run(trace: Trace, pool: Any) -> int:
    """The pool of a run in whole bytes; errors as in `Policy.run`."""
    check_kind("trace", trace, Trace, "call run(trace, pool)")
    return byte_limit("pool", pool)


def empty_log(trace: Trace) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Arrays for the log of a policy that loads on demand: an event is a load, or evicts one load."""
    events = np.empty(2 * trace.demands.size, np.int32)
    return events, np.zeros(len(trace) + 1, np.int64), np.zeros(len(trace), np.int64)


def finished_log(events: np.ndarray, frames: np.ndarray, refused: np.ndarray) -> Log:
    """The log in arrays of `empty_log` that a policy has filled."""
    return Log(events[: frames[-1]].copy(), frames, refused)
