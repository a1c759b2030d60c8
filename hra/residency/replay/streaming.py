"""Our residency policy on traces: allocation within the pool, then a `ResidentPool`.

What a frame wants is cut down to what the pool holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.caching import cached_property
from hra.errors import HraError
from hra.model.arrays import is_number
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from hra.residency.live.pool import ResidentPool
from hra.residency.live.pool_kernels import PINNED
from hra.residency.replay.next_use import NextUse
from hra.residency.replay.policy import Log, Policy, checked_run
from hra.residency.replay.serving import Served, close_upward, serve_frames
from hra.residency.replay.trace import Trace
from hra.traversals.base import is_whole
from hra.traversals.hull import Hull


@dataclass(frozen=True, eq=False)
class Fitter:
    """Cuts the frames of a trace down to a pool.

    Parameters
    ----------
    wanted : a trace that holds all ancestors, see `closed`.
    residents : the pool that is filled.
    hysteresis : what is there counts ``1 + hysteresis`` times its weight.
    """

    wanted: Trace
    residents: ResidentPool
    hysteresis: float

    @cached_property
    def capacity(self) -> int:
        """Bytes of the pool beside the coarsest items."""
        return self.residents.pool_bytes - int(self.residents.cost[self.residents.coarsest].sum())

    def fit(self, frame: int) -> tuple[np.ndarray, np.ndarray]:
        """What to hold for a frame, in order of loading, and its weights."""
        chosen = slice(*self.wanted.frames[frame : frame + 2])
        items, weights = self.wanted.demands[chosen], self._weights[chosen]
        cost = np.where(self.residents.parents[items] == -1, 0, self.residents.cost[items])
        if cost.sum() > self.capacity:
            keep = self._choose(items, weights)
            items, weights = items[keep], weights[keep]
        return items, weights

    @cached_property
    def _weights(self) -> np.ndarray:
        weights = self.wanted.weights
        return np.ones(self.wanted.demands.size) if weights is None else weights

    def _choose(self, items: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Which of the items [n] are held, bool: the most weight within the pool, parents before children."""
        place = self._hierarchy.added_by[1 + items]
        there = self.residents.resident[items]
        gain = np.zeros(len(self._hierarchy))
        gain[place] = weights * np.where(there, 1 + self.hysteresis, 1.0)
        problem = Problem(self._hierarchy, gain, 0.0, float(self.capacity), "weight", True, gain.copy)
        return Hull().solve(problem).selected[place]

    @cached_property
    def _hierarchy(self) -> Hierarchy:
        """All items below one root that costs nothing: every item is added by a refinement of its own.

        So the coarsest ones, which cost nothing here, are chosen like all others. It serves every frame; what a frame
        does not want gains nothing in it.
        """
        parent, cost = self.residents.parents, self.residents.cost
        above = np.concatenate([[-1], np.maximum(parent, -1) + 1])
        return Hierarchy.tree(above, np.concatenate([[0], np.where(parent == PINNED, 0, cost)]), mode="add")


@dataclass(frozen=True)
class Streaming(Policy):
    """Loads parents first, by gain per byte, within an upload limit; what does not fit this frame is queued.

    All that a frame wants must be there at once, which is what drawing needs; `LookAhead` and `Belady` may evict what
    the current frame has already used. Where a frame wants more than the pool, the choice within it that gains most is
    taken, in favour of what is there.

    Parameters
    ----------
    look_ahead : how many frames after the current one are known; None for all.
    upload_bytes : the most that one frame loads; None for no limit.
    prefetch : how many of the known frames are loaded ahead.
    hysteresis : where a frame wants more than the pool, what is there counts ``1 + hysteresis`` times its gain: by
        default, what replaces it must be worth twice as much.

    Raises
    ------
    HraError : a number below 0, or parts of frames.
    """

    look_ahead: int | None = 0
    upload_bytes: int | None = None
    prefetch: int = 0
    hysteresis: float = 1.0

    def __post_init__(self) -> None:
        if self.look_ahead is not None and not (is_whole(self.look_ahead) and self.look_ahead >= 0):
            raise HraError(f"cannot look {self.look_ahead!r} frames ahead", where="Streaming", fix="use 0 or more")
        if not (is_whole(self.prefetch) and self.prefetch >= 0):
            raise HraError(f"cannot load {self.prefetch!r} frames ahead", where="Streaming", fix="use 0 or more")
        if not (is_number(self.hysteresis) and 0 <= self.hysteresis < np.inf):
            raise HraError(f"a hysteresis of {self.hysteresis!r}", where="Streaming", fix="use 0 or more")

    @property
    def name(self) -> str:
        """What tables call it."""
        return f"streaming, {'all' if self.look_ahead is None else self.look_ahead} ahead"

    def run(self, trace: Trace, pool: int) -> Log:
        """Serve every demand of ``trace``, holding at most ``pool`` bytes.

        Raises
        ------
        BudgetTooSmall : the pool does not hold the coarsest items, or the upload limit not the largest other one.
        """
        pool = checked_run(trace, pool)
        limits = {"pool_bytes": pool, "upload_bytes": self.upload_bytes, "prefetch": self.prefetch}
        residents = ResidentPool(trace.cost, trace.parents, **limits)
        wanted = close_upward(trace)
        fitter = Fitter(wanted, residents, self.hysteresis)
        next_use = NextUse(wanted, len(trace) if self.look_ahead is None else self.look_ahead)

        def choose(frame: int) -> Served:
            next_use.update(residents.coming, frame)
            return *fitter.fit(frame), next_use.soon(frame, self.prefetch)

        return serve_frames(residents, len(trace), choose)
