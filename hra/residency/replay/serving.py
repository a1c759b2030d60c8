"""Runs a `ResidentPool` over the frames of a trace, whose demands are closed upward: with all that they depend on."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from hra.compiling import njit
from hra.model.arrays import read_only
from hra.residency.live.pool import ResidentPool
from hra.residency.live.pool_kernels import priority_order
from hra.residency.replay.policy import Log
from hra.residency.replay.trace import Trace

Served = tuple[np.ndarray, np.ndarray, np.ndarray]


def close_upward(trace: Trace) -> Trace:
    """``trace`` with all ancestors of every demand, each frame in order of priority, parents first.

    An ancestor's weight is its own and that of all demands below it: what it shows until they are there.
    """
    parents = np.full(trace.cost.size, -1, np.int32) if trace.parents is None else trace.parents
    weights = np.ones(trace.demands.size) if trace.weights is None else trace.weights
    # Read-only all of them, so that one kind is compiled.
    given = [read_only(each) for each in (trace.frames, trace.demands, weights, parents)]
    # Counted first and filled afterwards: traces are large.
    frames = np.zeros(len(trace) + 1, np.int64)
    empty = np.empty(0, np.int32), np.empty(0)
    _close(*given, False, frames, *empty)
    frames = np.cumsum(frames)
    demands, summed = np.empty(frames[-1], np.int32), np.empty(frames[-1])
    _close(*given, True, frames, demands, summed)
    for first, last in pairwise(frames):
        order = first + priority_order(demands[first:last], summed[first:last], trace.cost, parents)
        demands[first:last], summed[first:last] = demands[order], summed[order]
    return Trace(frames, demands, trace.cost, summed, trace.parents)


@njit(cache=True)
def _close(frames, demands, weights, parents, fill, offsets, closed_demands, closed_weights):
    """Count the items of each frame with their ancestors, or ``fill`` them in with their weights."""
    position, total = np.full(parents.size, -1, np.int64), 0
    for f in range(frames.size - 1):
        first = total
        for r in range(frames[f], frames[f + 1]):
            item = demands[r]
            while item >= 0:
                if position[item] < first:
                    position[item] = total
                    if fill:
                        closed_demands[total], closed_weights[total] = item, 0.0
                    total += 1
                if fill:
                    closed_weights[position[item]] += weights[r]
                item = parents[item]
        if not fill:
            offsets[f + 1] = total - first


def serve_frames(residents: ResidentPool, frames: int, choose: Callable[[int], Served]) -> Log:
    """The log of ``frames`` frames, the first of which also loads the coarsest items.

    Parameters
    ----------
    choose : gives the arguments of `ResidentPool.serve` for each frame.
    """
    events, sizes = [np.empty(0, np.int32)], np.zeros(frames + 1, np.int64)
    for frame in range(frames):
        changes = residents.serve(*choose(frame)).events
        events.append(np.concatenate([residents.coarsest, changes]) if frame == 0 else changes)
        sizes[frame + 1] = events[-1].size
    return Log(np.concatenate(events), np.cumsum(sizes), np.zeros(frames, np.int64))
