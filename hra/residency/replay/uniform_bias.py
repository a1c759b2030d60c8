"""One mip bias for all: the budget rule of engines that shift every texture by the same number of levels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.errors import HraError
from hra.residency.live.pool import ResidentPool
from hra.residency.replay.policy import Log, Policy, checked_run
from hra.residency.replay.serving import Served, close_upward, serve_frames
from hra.residency.replay.trace import Trace


@dataclass(frozen=True)
class UniformBias(Policy):
    """Every demand moves up by the same number of levels, the fewest with which the frame fits into the pool."""

    @property
    def name(self) -> str:
        """What tables call it."""
        return "uniform bias"

    def run(self, trace: Trace, pool: int) -> Log:
        """Serve every demand of ``trace`` as far as the bias lets it, holding at most ``pool`` bytes.

        Raises
        ------
        HraError : the items have no parents to fall back on.
        BudgetTooSmall : the pool does not hold the coarsest items.
        """
        pool = checked_run(trace, pool)
        if trace.parents is None:
            raise HraError("a bias needs coarser items", where="parents", fix="use a trace with parents")
        residents = ResidentPool(trace.cost, trace.parents, pool_bytes=pool)
        biased = _biases(trace, pool - residents.used_bytes)
        bias = np.argmax([fits for _, fits in biased], axis=0)
        nothing = np.empty(0, np.int32)

        def choose(frame: int) -> Served:
            chosen = biased[bias[frame]][0]
            part = slice(*chosen.frames[frame : frame + 2])
            weights = np.ones(0) if chosen.weights is None else chosen.weights
            return chosen.demands[part], weights[part], nothing

        return serve_frames(residents, len(trace), choose)


def _biases(trace: Trace, capacity: int) -> list[tuple[Trace, np.ndarray]]:
    """The closed trace under bias 0, 1, ... and which frames fit, bool [F], until all do."""
    found = []
    while True:
        candidate = close_upward(trace)
        found.append((candidate, _bytes(candidate) <= capacity))
        if found[-1][1].all():
            return found
        trace = _coarser(trace)


def _bytes(trace: Trace) -> np.ndarray:
    """Bytes that each frame wants beside the coarsest items [F]."""
    cost = np.where(_parents(trace) < 0, 0, trace.cost)[trace.demands]
    return np.diff(np.concatenate([[0], np.cumsum(cost)])[trace.frames])


def _coarser(trace: Trace) -> Trace:
    """``trace`` with every demand moved to its parent; the coarsest stay."""
    above = _parents(trace)[trace.demands]
    moved = np.where(above < 0, trace.demands, above).astype(np.int64)
    frame = np.repeat(np.arange(len(trace)), np.diff(trace.frames))
    keys, which = np.unique(frame * trace.cost.size + moved, return_inverse=True)
    weights = np.bincount(which, trace.weights, keys.size)
    frames = np.searchsorted(keys, np.arange(len(trace) + 1) * trace.cost.size)
    return Trace(frames, (keys % trace.cost.size).astype(np.int32), trace.cost, weights, trace.parents)


def _parents(trace: Trace) -> np.ndarray:
    return np.full(trace.cost.size, -1, np.int32) if trace.parents is None else trace.parents
