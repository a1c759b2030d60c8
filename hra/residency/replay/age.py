"""Eviction by age alone, as NVIDIA's cluster streaming samples do it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.compiling import njit
from hra.errors import HraError
from hra.residency.live.recency import append, empty_lists, evict_oldest, take_out
from hra.residency.replay.policy import Log, Policy, checked_run, empty_log, finished_log
from hra.residency.replay.trace import Trace
from hra.traversals.base import is_whole


@dataclass(frozen=True)
class AgeEviction(Policy):
    """Evicts what no frame has wanted for a while, full or not, and refuses what then does not fit.

    The rule of the streaming of ``vk_lod_clusters``, where the age is a setting.

    Parameters
    ----------
    age : frames that an item stays without being wanted, >= 0.

    Raises
    ------
    HraError : an age below 0, or parts of frames.
    """

    age: int = 16

    def __post_init__(self) -> None:
        if not (is_whole(self.age) and self.age >= 0):
            raise HraError(f"an age of {self.age!r} frames", where="AgeEviction", fix="use 0 or more")

    @property
    def name(self) -> str:
        """What tables call it."""
        return f"evict after {self.age} frames"

    def run(self, trace: Trace, pool: int) -> Log:
        """Serve what fits of every demand of ``trace``, holding at most ``pool`` bytes."""
        pool, log = checked_run(trace, pool), empty_log(trace)
        _run(trace.frames, trace.demands, trace.cost, pool, self.age, *log)
        return finished_log(*log)


@njit(cache=True)
def _run(frames, demands, cost, pool, age, events, log_frames, refused):
    before, after = empty_lists(cost.size, 1)
    used_at = np.full(cost.size, -1, np.int64)
    end, used, e = cost.size, 0, 0
    for f in range(frames.size - 1):
        for r in range(frames[f], frames[f + 1]):
            if after[demands[r]] >= 0:
                take_out(before, after, demands[r])
                append(before, after, demands[r], end)
                used_at[demands[r]] = f
        while after[end] != end and f - used_at[after[end]] > age:
            used -= cost[evict_oldest(before, after, end, events, e)]
            e += 1
        for r in range(frames[f], frames[f + 1]):
            item = demands[r]
            if after[item] >= 0:
                continue
            if used + cost[item] > pool:
                refused[f] += 1
                continue
            append(before, after, item, end)
            used += cost[item]
            used_at[item] = f
            events[e] = item
            e += 1
        log_frames[f + 1] = e
