"""What several tests of evaluation share."""

from __future__ import annotations

import numpy as np

from hra.residency import Log, Trace

TRACE = Trace(np.array([0, 2, 3, 5]), np.array([0, 1, 2, 0, 2]), np.array([4, 3, 2]), parents=np.array([-1, 0, 0]))


def log(*frames: list[int]) -> Log:
    offsets = np.cumsum([0, *map(len, frames)])
    return Log(np.array([event for frame in frames for event in frame], np.int32), offsets, np.array([0, 1, 0]))
