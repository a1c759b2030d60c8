"""Runs a `ResidentPool` over the frames of a trace."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hra.residency.policy import Log
from hra.residency.pool import ResidentPool

Served = tuple[np.ndarray, np.ndarray, np.ndarray]


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
