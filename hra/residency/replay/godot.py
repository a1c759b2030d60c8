"""The rule of the Godot engine's texture streaming, on demand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.compiling import njit
from hra.residency.live.recency import append, empty_lists, evict_oldest, take_out
from hra.residency.replay.policy import Log, Policy, checked_run, empty_log, finished_log
from hra.residency.replay.trace import Trace


@dataclass(frozen=True)
class GodotRule(Policy):
    """Evicts what is above the request first, then what was inactive for longest, then the most bytes.

    The order is that of the budget rule of Godot 4's streamed textures; what an item shows plays no part. A demand for
    which nothing can go that is not itself demanded is refused.
    """

    @property
    def name(self) -> str:
        """What tables call it."""
        return "Godot's rule"

    def run(self, trace: Trace, pool: int) -> Log:
        """Serve every demand of ``trace``, holding at most ``pool`` bytes."""
        pool, log = checked_run(trace, pool), empty_log(trace)
        rank = np.empty(trace.cost.size, np.int64)
        rank[np.lexsort((-np.arange(rank.size), -trace.cost))] = np.arange(rank.size)
        _run(trace.frames, trace.demands, rank, trace.cost, pool, *log)
        return finished_log(*log)


@njit(cache=True)
def _run(frames, demands, rank, cost, pool, events, log_frames, refused):
    before, after = empty_lists(cost.size, 1)
    end, used, e = cost.size, 0, 0
    for f in range(frames.size - 1):
        wanted = demands[frames[f] : frames[f + 1]]
        # Most bytes first: the list then runs from the first to go to the last.
        ordered = wanted[np.argsort(rank[wanted], kind="mergesort")]
        _touch(before, after, ordered)
        active = _resident_bytes(wanted, after, cost)
        for item in wanted:
            if after[item] >= 0:
                continue
            if active + cost[item] > pool:
                refused[f] += 1
                continue
            while used + cost[item] > pool:
                used -= cost[evict_oldest(before, after, end, events, e)]
                e += 1
            append(before, after, item, after.size - 1)
            used += cost[item]
            active += cost[item]
            events[e] = item
            e += 1
        _touch(before, after, ordered)
        log_frames[f + 1] = e


@njit(cache=True)
def _touch(before, after, items):
    for item in items:
        if after[item] >= 0:
            take_out(before, after, item)
            append(before, after, item, after.size - 1)


@njit(cache=True)
def _resident_bytes(items, after, cost):
    total = 0
    for item in items:
        if after[item] >= 0:
            total += cost[item]
    return total
