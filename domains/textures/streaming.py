"""Replay of a camera path: what is resident, loaded and evicted in every frame."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.domains.textures.allocator import TextureAllocator


@dataclass(frozen=True, eq=False)
class ResidencyTrace:
    """One entry per frame of a replay over F frames.

    Attributes
    ----------
    pool_bytes : the budget; no frame holds more.
    resident : pages (node ids, ascending int64) that each frame holds.
    resident_bytes, uploaded_bytes, evicted_bytes : int64 [F]; the mip tails are uploaded in the first frame.
    uploads, evictions : int64 [F], numbers of pages.
    residual : float64 [F], error that remains, in the metric's unit.
    gap : float64 [F], (upper bound - gain) / upper bound of each allocation.
    """

    pool_bytes: float
    resident: tuple[np.ndarray, ...]
    resident_bytes: np.ndarray
    uploaded_bytes: np.ndarray
    evicted_bytes: np.ndarray
    uploads: np.ndarray
    evictions: np.ndarray
    residual: np.ndarray
    gap: np.ndarray

    def __len__(self) -> int:
        """Number of frames."""
        return len(self.resident)

    def __repr__(self) -> str:
        peak, moved = int(self.resident_bytes.max(initial=0)), int(self.uploaded_bytes.sum())
        return f"{len(self)} frames, peak {peak:,} of {self.pool_bytes:,.12g} bytes, {moved:,} bytes uploaded"


def replay(allocator: TextureAllocator, contexts: Iterable[Any], pool_bytes: float) -> ResidencyTrace:
    """Allocate each frame afresh and record how residency changes.

    Parameters
    ----------
    contexts : the cameras (or recorded `Feedback`) of the frames, in order.
    pool_bytes : byte budget of every frame.

    Raises
    ------
    BudgetTooSmall : the pool does not hold the mip tails.
    """
    allocations = [allocator.allocate(context, pool_bytes) for context in contexts]
    cost = allocator.textures.hierarchy.node_cost.astype(np.int64)
    resident = [allocation.cut for allocation in allocations]
    before = [np.empty(0, np.int64), *resident[:-1]]
    uploaded = [np.setdiff1d(now, old, assume_unique=True) for now, old in zip(resident, before, strict=False)]
    evicted = [np.setdiff1d(old, now, assume_unique=True) for now, old in zip(resident, before, strict=False)]
    return ResidencyTrace(
        pool_bytes=pool_bytes,
        resident=tuple(resident),
        resident_bytes=_bytes(cost, resident),
        uploaded_bytes=_bytes(cost, uploaded),
        evicted_bytes=_bytes(cost, evicted),
        uploads=_counts(uploaded),
        evictions=_counts(evicted),
        residual=np.array([allocation.residual for allocation in allocations]),
        gap=np.array([allocation.gap for allocation in allocations]),
    )


def _bytes(cost: np.ndarray, pages: list[np.ndarray]) -> np.ndarray:
    return np.array([cost[nodes].sum() for nodes in pages], np.int64)


def _counts(pages: list[np.ndarray]) -> np.ndarray:
    return np.array([nodes.size for nodes in pages], np.int64)
