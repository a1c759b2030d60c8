"""A recorded trace at every pool of bytes: what each policy holds along it, and what was not there when wanted."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.pages.explore.packed import packed
from hra.pages.explore.paths import Held, path_slider, path_track, pools_of
from hra.residency import LRU, Belady, GodotRule, Policy, Refusing, Streaming, Trace, judge

# Points of the page's path; frames between two of them are averaged.
_POINTS = 120
_RULES: dict[str, Policy] = {
    "hra: parents first, by gain per byte": Streaming(),
    "LRU: the least recently used goes": LRU(),
    "refuse while full, as 3DTilesRenderer": Refusing(),
    "Godot's rule": GodotRule(),
    "Belady: knows the whole path": Belady(),
}


def trace_view(trace: Trace, budget: int) -> dict[str, Any]:
    """What a page needs to show what policies hold along a trace.

    Parameters
    ----------
    budget : bytes where the slider begins, one of its steps.
    """
    pools = pools_of(trace, budget)
    starts = points(len(trace))
    wanted = _means([trace.cost[trace.frame(frame)].sum() for frame in range(len(trace))], starts)
    tracks = [
        path_track(name, pools, [held_along(policy, trace, pool, starts) for pool in pools])
        for name, policy in _RULES.items()
    ]
    return {
        "kind": "trace",
        "name": "trace",
        "bound": "",
        **path_slider(pools, budget, starts.size, "bytes that a frame wanted and that were not there, mean"),
        "wanted": packed(wanted),
        "tracks": tracks,
    }


def points(frames: int) -> np.ndarray:
    """The frames at which at most 120 points of a path begin, int64 [S]."""
    return np.unique(np.linspace(0, frames, min(frames, _POINTS), endpoint=False).astype(np.int64))


def held_along(policy: Policy, trace: Trace, pool: float, starts: np.ndarray) -> Held:
    """What ``policy`` holds at each point of the path, mean bytes of its frames."""
    verdict = judge(policy, trace, int(pool))
    numbers = (verdict.resident_bytes, verdict.loaded_bytes, verdict.missing_bytes)
    held, loaded, missing = (_means(values, starts) for values in numbers)
    return Held(held, loaded, missing, np.full(starts.size, np.nan))


def _means(values: Any, starts: np.ndarray) -> np.ndarray:
    """The mean of the frames from each start to the next, float64 [S]."""
    sums = np.add.reduceat(np.asarray(values, np.float64), starts)
    return sums / np.diff([*starts, len(values)])
