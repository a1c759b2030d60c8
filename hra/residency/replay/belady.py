"""Belady's optimum: the fewest loads that any policy can need."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from hra.compiling import njit
from hra.residency.replay.next_use import item_of, next_references, still_to_come
from hra.residency.replay.policy import Log, Policy, checked_run, empty_log, finished_log
from hra.residency.replay.trace import Trace


@dataclass(frozen=True)
class Belady(Policy):
    """Evicts what is used again last, which needs the whole future; a bound for others, not a policy to ship.

    Optimal among policies that load on demand if all items cost the same (Belady 1966, IBM Systems Journal 5(2));
    otherwise it is the usual heuristic.
    """

    @property
    def name(self) -> str:
        """What tables call it."""
        return "Belady"

    def run(self, trace: Trace, pool: int) -> Log:
        """Serve every demand of ``trace`` in order, holding at most ``pool`` bytes."""
        pool, log = checked_run(trace, pool), empty_log(trace)
        following = next_references(trace.demands, trace.cost.size)
        _run(trace.frames, trace.demands, following, trace.cost, pool, *log)
        return finished_log(*log)


@njit(cache=True)
def _run(frames, demands, following, cost, pool, events, log_frames, refused):
    # The heap holds the next reference of each resident item, negated, and some that have passed.
    there, heap, resident = cost < 0, [0], 0
    heap.clear()
    used, e = 0, 0
    for f in range(frames.size - 1):
        for r in range(frames[f], frames[f + 1]):
            item = demands[r]
            if not there[item]:
                if cost[item] > pool:
                    refused[f] += 1
                    continue
                while used + cost[item] > pool:
                    victim = item_of(-heapq.heappop(heap), demands)
                    there[victim] = False
                    used -= cost[victim]
                    resident -= 1
                    events[e] = -1 - victim
                    e += 1
                there[item] = True
                used += cost[item]
                resident += 1
                events[e] = item
                e += 1
            heapq.heappush(heap, -following[r])
            if len(heap) > 2 * resident + 64:
                heap = still_to_come(heap, r)
                heapq.heapify(heap)
        log_frames[f + 1] = e
