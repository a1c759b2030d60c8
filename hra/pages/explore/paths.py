"""What policies hold along a path, at every pool of a slider: a step of a track is one frame with one pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.pages.explore.packed import packed
from hra.pages.explore.track import STEPS, Number, Track, budgets_between, slider
from hra.residency import Trace


@dataclass(frozen=True, eq=False)
class Held:
    """What one method holds along F frames with one pool.

    Attributes
    ----------
    held, loaded : int64 [F], bytes at the end of each frame, and those that it loaded.
    error : float64 [F], what is left of each frame's error; ``least`` as `Track` has it.
    cuts : int64 [K] each, what each frame draws; empty where nothing is drawn.
    """

    held: np.ndarray
    loaded: np.ndarray
    error: np.ndarray
    least: np.ndarray
    cuts: Sequence[np.ndarray] = ()


def path_track(name: str, pools: np.ndarray, rows: Sequence[Held], number: Number = np.asarray) -> dict[str, Any]:
    """One method's answers at P pools [P] as the page reads them, pool by pool, each frame by frame."""
    frames = rows[0].held.size
    held, error, least = (
        np.concatenate([getattr(row, part) for row in rows], dtype=float) for part in ("held", "error", "least")
    )
    loaded = np.concatenate([row.loaded for row in rows]).astype(np.float32)
    cuts = [cut for row in rows for cut in row.cuts]
    track = Track(name, np.repeat(pools, frames), held, error, least, cuts, {"loaded": packed(loaded)})
    return track.record(number)


def path_slider(pools: np.ndarray, start: float, frames: int, error: str) -> dict[str, Any]:
    """What a view along a path says of its two sliders, see `slider`; the second begins in the middle."""
    return {**slider(pools, start, "bytes", error), "pools": packed(pools), "frames": frames}


def pools_of(trace: Trace, start: float) -> np.ndarray:
    """Pools from little more than what is always there to all that is ever wanted, float64 [P]."""
    fixed = np.zeros(0) if trace.parents is None else trace.cost[trace.parents < 0]
    wanted = trace.cost[np.unique(trace.demands)]
    least = fixed.sum() + 2 * wanted.max(initial=1)
    return budgets_between(least, max(least, wanted.sum() + fixed.sum()), STEPS, (start,))
