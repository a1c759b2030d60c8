"""Least recently used: the rule of most caches."""

from __future__ import annotations

from dataclasses import dataclass

from hra.compiling import njit
from hra.residency.live.recency import append, empty_lists, evict_oldest, take_out
from hra.residency.replay.policy import Log, Policy, checked_run, empty_log, finished_log
from hra.residency.replay.trace import Trace


@dataclass(frozen=True)
class LRU(Policy):
    """Loads on demand and evicts what was not used for longest; it knows nothing of frames or parents."""

    @property
    def name(self) -> str:
        """What tables call it."""
        return "LRU"

    def run(self, trace: Trace, pool: int) -> Log:
        """Serve every demand of ``trace`` in order, holding at most ``pool`` bytes."""
        pool, log = checked_run(trace, pool), empty_log(trace)
        _run(trace.frames, trace.demands, trace.cost, pool, *log)
        return finished_log(*log)


@njit(cache=True)
def _run(frames, demands, cost, pool, events, log_frames, refused):
    before, after = empty_lists(cost.size, 1)
    oldest, used, e = cost.size, 0, 0
    for f in range(frames.size - 1):
        for r in range(frames[f], frames[f + 1]):
            item = demands[r]
            if after[item] >= 0:
                take_out(before, after, item)
            elif cost[item] > pool:
                refused[f] += 1
                continue
            else:
                while used + cost[item] > pool:
                    used -= cost[evict_oldest(before, after, oldest, events, e)]
                    e += 1
                used += cost[item]
                events[e] = item
                e += 1
            append(before, after, item, oldest)
        log_frames[f + 1] = e
