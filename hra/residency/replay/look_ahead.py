"""Replacement that knows the next few frames and falls back on recency beyond them."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from hra.compiling import njit
from hra.errors import HraError
from hra.model.arrays import is_number
from hra.residency.live.recency import append, empty_lists, take_out
from hra.residency.replay.next_use import item_of, next_references, still_to_come
from hra.residency.replay.policy import Log, Policy, checked_run, empty_log, finished_log
from hra.residency.replay.trace import Trace
from hra.traversals.base import is_whole


@dataclass(frozen=True)
class LookAhead(Policy):
    """Evicts what no known frame wants, least recently used first; then what is wanted last.

    With all frames known it is Belady's optimum; with none it is LRU that keeps what the current frame still wants.

    Parameters
    ----------
    frames : how many frames after the current one are known, from a recorded or predicted path; None for all.
    level_weight : the time since the last use counts ``1 / (1 + level_weight * level)``, >= 0. Coarse tiles cover more
        ground and are seen again after longer absences: 1 saves loads on long drives, but wastes them where a
        small pool follows a walk that turns back. Without effect on items that have no parents.

    Raises
    ------
    HraError : a number below 0, or parts of frames.
    """

    frames: int | None = 0
    level_weight: float = 0.0

    def __post_init__(self) -> None:
        frames = 0 if self.frames is None else self.frames
        if not (is_whole(frames) and frames >= 0 and is_number(self.level_weight) and 0 <= self.level_weight < np.inf):
            what = f"{frames!r} frames and a weight of {self.level_weight!r}"
            raise HraError(what, where="LookAhead", fix="use 0 or more frames and weights")

    @property
    def name(self) -> str:
        """What tables call it."""
        return f"look-ahead {'all' if self.frames is None else self.frames}"

    def run(self, trace: Trace, pool: int) -> Log:
        """Serve every demand of ``trace`` in order, holding at most ``pool`` bytes."""
        pool, log = checked_run(trace, pool), empty_log(trace)
        following = next_references(trace.demands, trace.cost.size)
        ahead = len(trace) if self.frames is None else min(self.frames, len(trace))
        level, weight = _levels(trace), self.level_weight
        _run((trace.frames, trace.demands, following), trace.cost, level, weight, pool, ahead, log)
        return finished_log(*log)


@njit(cache=True)
def _longest_unused(after, used_at, weight, now):
    """The item whose weighted time since its last use is longest, the finest of equals, or -1."""
    victim, longest = -1, -1.0
    for end in range(used_at.size, after.size):
        if after[end] != end:
            age = (now - used_at[after[end]]) / (1.0 + weight * (end - used_at.size))
            if age > longest:
                victim, longest = after[end], age
    return victim


@njit(cache=True)
def _run(wanted, cost, level, weight, pool, ahead, log):
    (frames, demands, following), (events, log_frames, refused) = wanted, log
    # The residents whose next use is not known, a list per level, and the last reference to each.
    before, after = empty_lists(cost.size, level.max() + 1 if cost.size else 1)
    used_at = np.zeros(cost.size, np.int64)
    # Next use of each resident, -1 for what is not there. Those that are known are in the heap, negated.
    coming, heap = np.full(cost.size, -1, np.int64), [0]
    heap.clear()
    last, used, e, resident, known = frames.size - 1, 0, 0, 0, 0
    for f in range(last):
        horizon = frames[min(f + 1 + ahead, last)]
        for r in range(known, horizon):  # what the frames that have just come into view want
            item = demands[r]
            if coming[item] == r and after[item] >= 0:
                take_out(before, after, item)
                heapq.heappush(heap, -r)
        known = horizon
        for r in range(frames[f], frames[f + 1]):
            item = demands[r]
            if coming[item] < 0:
                if cost[item] > pool:
                    refused[f] += 1
                    continue
                while used + cost[item] > pool:
                    victim = _longest_unused(after, used_at, weight, r)
                    if victim >= 0:
                        take_out(before, after, victim)
                    else:
                        victim = item_of(-heapq.heappop(heap), demands)
                    coming[victim] = -1
                    used -= cost[victim]
                    resident -= 1
                    events[e] = -1 - victim
                    e += 1
                used += cost[item]
                resident += 1
                events[e] = item
                e += 1
            coming[item], used_at[item] = following[r], r
            if following[r] < known:
                heapq.heappush(heap, -following[r])
                if len(heap) > 2 * resident + 64:
                    heap = still_to_come(heap, r)
                    heapq.heapify(heap)
            else:
                append(before, after, item, cost.size + level[item])
        log_frames[f + 1] = e


def _levels(trace: Trace) -> np.ndarray:
    """The level of each item, int32 [N]: 0 for the deepest, one more for each step towards the coarsest.

    Items that do not depend on each other are all of level 0.
    """
    count = trace.cost.size
    return np.zeros(count, np.int32) if trace.parents is None or count == 0 else _depths(trace.parents)


@njit(cache=True)
def _depths(parents):
    depth = np.zeros(parents.size, np.int32)
    for i in range(parents.size):
        if parents[i] >= 0:
            depth[i] = depth[parents[i]] + 1
    return depth.max() - depth
