"""A cache that refuses to load while it is full, as the tile cache of 3DTilesRenderer does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.compiling import njit
from hra.errors import HraError
from hra.model.arrays import is_number
from hra.residency.live.recency import append, empty_lists, evict_oldest, take_out
from hra.residency.replay.policy import Log, Policy, checked_run, empty_log, finished_log
from hra.residency.replay.trace import Trace


@dataclass(frozen=True)
class Refusing(Policy):
    """Loads while there is room and refuses otherwise; after each frame a few unused items go, least recent first.

    The rule and the default figures are those of the ``LRUCache`` of 3DTilesRenderer (600 of 800 items, 5 %).

    Parameters
    ----------
    least : share of the pool down to which unused items are evicted.
    step : share of ``least``, or of the excess over it, that goes after one frame.

    Raises
    ------
    HraError : a share that is not from 0 to 1.
    """

    least: float = 0.75
    step: float = 0.05

    def __post_init__(self) -> None:
        if not all(is_number(share) and 0 <= share <= 1 for share in (self.least, self.step)):
            what = f"shares of {self.least!r} and {self.step!r}"
            raise HraError(what, where="Refusing", fix="use numbers from 0 to 1")

    @property
    def name(self) -> str:
        """What tables call it."""
        return "refuse while full"

    def run(self, trace: Trace, pool: int) -> Log:
        """Serve what fits of every demand of ``trace``, holding at most ``pool`` bytes."""
        pool, log = checked_run(trace, pool), empty_log(trace)
        _run(trace.frames, trace.demands, trace.cost, pool, self.least * pool, self.step, *log)
        return finished_log(*log)


@njit(cache=True)
def _run(frames, demands, cost, pool, least, step, events, log_frames, refused):
    before, after = empty_lists(cost.size, 1)
    used_at = np.full(cost.size, -1, np.int64)
    end, used, e = cost.size, 0, 0
    for f in range(frames.size - 1):
        for r in range(frames[f], frames[f + 1]):
            item = demands[r]
            if after[item] >= 0:
                take_out(before, after, item)
            elif used + cost[item] > pool:
                refused[f] += 1
                continue
            else:
                used += cost[item]
                events[e] = item
                e += 1
            append(before, after, item, end)
            used_at[item] = f
        excess = used - least
        goal = used - min(max(step * least, step * excess), excess)
        while excess > 0 and used > goal and after[end] != end and used_at[after[end]] < f:
            used -= cost[evict_oldest(before, after, end, events, e)]
            e += 1
        log_frames[f + 1] = e
