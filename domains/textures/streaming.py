"""Replay of a camera path: what is resident, loaded, queued and evicted in every frame."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, tee
from typing import Any

import numpy as np

from hra.allocating.allocation import Allocation
from hra.domains.textures.allocator import TextureAllocator
from hra.domains.textures.streamer import ResidencyUpdate, TextureStreamer
from hra.errors import check_function, check_kind
from hra.model.arrays import offsets_of, whole_in
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from hra.model.sets import total
from hra.residency import Log

Predictor = Callable[[Any, Any, int], Sequence[Any]]


@dataclass(frozen=True, eq=False)
class ResidencyTrace:
    """One entry per frame of a replay over F frames.

    Attributes
    ----------
    pool_bytes : the budget; no frame holds more.
    resident : pages (node ids, ascending int64) that each frame holds, with those that wait for their room to be
        needed.
    resident_bytes, uploaded_bytes, evicted_bytes : int64 [F]; the mip tails are uploaded in the first frame.
    uploads, evictions, queued : int64 [F], numbers of pages; what is queued is wanted and not resident yet.
    residual : float64 [F], error that remains with what is resident, in the metric's unit.
    least_residual : float64 [F], the error that no choice of pages within the pool undercuts (LP bound).
    gap : float64 [F], (upper bound - gain) / upper bound of each allocation.
    log : every load and eviction, in order.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import textures
    >>> scene = textures.PlaneScene.ground(np.zeros((512, 512, 3), np.uint8), width=10.0)
    >>> allocator = textures.TextureAllocator(scene.textures, textures.AnalyticFeedback(scene))
    >>> trace = textures.replay(allocator, textures.flyover(scene.planes[0], 4, viewport=(160, 90)), pool_bytes=2**19)
    >>> len(trace), trace.resident[0], bool((trace.resident_bytes <= 2**19).all())
    (4, array([0, 1, 2, 3, 4]), True)
    """

    pool_bytes: float
    resident: tuple[np.ndarray, ...]
    resident_bytes: np.ndarray
    uploaded_bytes: np.ndarray
    evicted_bytes: np.ndarray
    uploads: np.ndarray
    evictions: np.ndarray
    queued: np.ndarray
    residual: np.ndarray
    least_residual: np.ndarray
    gap: np.ndarray
    log: Log

    def __len__(self) -> int:
        """Number of frames."""
        return len(self.resident)

    def __repr__(self) -> str:
        peak, moved = int(self.resident_bytes.max(initial=0)), int(self.uploaded_bytes.sum())
        return f"{len(self)} frames, peak {peak:,} of {self.pool_bytes:,.12g} bytes, {moved:,} bytes uploaded"


def replay(
    allocator: TextureAllocator,
    contexts: Iterable[Any],
    pool_bytes: float,
    *,
    upload_bytes: int | None = None,
    look_ahead: int = 0,
    predict: Predictor | None = None,
) -> ResidencyTrace:
    """Allocate every frame and let a `TextureStreamer` follow.

    Give the allocator a `hra.Coherent` traversal to keep what is resident unless something else is clearly better.

    Parameters
    ----------
    contexts : the cameras (or recorded `Feedback`) of the frames, in order.
    pool_bytes : byte budget of every frame.
    upload_bytes : the most that one frame uploads beside the mip tails, None for no limit. What does not fit is queued.
    look_ahead : how many of the next contexts are allocated too; what a frame's uploads leave prefetches for them.
    predict : gives as many contexts from the previous and the current one, such as `constant_motion` of cameras; None
        where the path is known. Predictions are allocated again in every frame.

    Raises
    ------
    InvalidBudget : the pool is not a number >= 0.
    HraError : ``look_ahead`` is not a whole number >= 0, or something else in the place of another argument.
    BudgetTooSmall : the pool does not hold the mip tails, or the upload limit not the largest page.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import textures
    >>> scene = textures.PlaneScene.ground(np.zeros((512, 512, 3), np.uint8), width=10.0)
    >>> allocator = textures.TextureAllocator(scene.textures, textures.AnalyticFeedback(scene))
    >>> cameras = textures.flyover(scene.planes[0], frames=5, viewport=(160, 90))
    >>> textures.replay(allocator, cameras, pool_bytes=2**19, upload_bytes=2**17)
    5 frames, peak 480,596 of 524,288 bytes, 677,204 bytes uploaded
    """
    look_ahead = whole_in("look_ahead", look_ahead)
    check_kind("contexts", contexts, Iterable, "pass a list of cameras, or of Feedback")
    if predict is not None:
        check_function("predict", predict, "pass one such as constant_motion")
    streamer = TextureStreamer(allocator, pool_bytes, upload_bytes=upload_bytes)
    recorder = _Recorder(allocator.textures.hierarchy)
    if predict is None or look_ahead == 0:
        frames = _with_upcoming(_allocations(allocator, contexts, pool_bytes), look_ahead)
    else:
        frames = _with_predicted(allocator, contexts, pool_bytes, predict, look_ahead)
    for allocation, upcoming in frames:
        recorder.add(streamer.follow(allocation, upcoming))
    return recorder.trace(pool_bytes)


def _allocations(allocator: TextureAllocator, contexts: Iterable[Any], pool_bytes: float) -> Iterator[Allocation]:
    previous = None
    for context in contexts:
        previous = allocator.allocate(context, pool_bytes, previous=previous)
        yield previous


def _with_upcoming(
    allocations: Iterator[Allocation], count: int
) -> Iterator[tuple[Allocation, tuple[Allocation, ...]]]:
    """Each allocation with the ``count`` after it, fewer at the end."""
    window = deque(islice(allocations, count + 1))
    while window:
        current = window.popleft()
        yield current, tuple(window)
        window.extend(islice(allocations, 1))


def _with_predicted(
    allocator: TextureAllocator, contexts: Iterable[Any], pool_bytes: float, predict: Predictor, count: int
) -> Iterator[tuple[Allocation, tuple[Allocation, ...]]]:
    """Each allocation with those of ``count`` contexts that are expected after it, none after the first."""
    shown, coming = tee(contexts)
    before = None
    for context, allocation in zip(shown, _allocations(allocator, coming, pool_bytes), strict=True):
        expected = () if before is None else predict(before, context, count)
        yield allocation, tuple(allocator.allocate(later, pool_bytes) for later in expected)
        before = context


class _Recorder:
    """Collects what every frame did."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.cost = hierarchy.node_cost
        self.resident: list[np.ndarray] = []
        self.events: list[np.ndarray] = []
        self.rows: list[tuple[float, ...]] = []

    def add(self, update: ResidencyUpdate) -> None:
        """One frame, after the pool has served it."""
        cost, resident, allocation = self.cost, update.resident.pages, update.allocation
        self.events.append(np.concatenate([-1 - update.evictions, update.loads]))
        self.resident.append(resident)
        moved = update.loaded_bytes, cost[update.evictions].sum(), update.loads.size, update.evictions.size
        residual = _residual(allocation.problem, resident)
        rest = update.queued.size, residual, allocation.least_residual, allocation.gap
        self.rows.append((update.resident.bytes, *moved, *rest))

    def trace(self, pool_bytes: float) -> ResidencyTrace:
        """All frames."""
        columns = np.array(self.rows, np.float64).reshape(-1, 9).T
        log = Log(
            np.concatenate([np.empty(0, np.int32), *self.events]),
            offsets_of(np.array([events.size for events in self.events], np.int64)),
            np.zeros(len(self.events), np.int64),
        )
        return ResidencyTrace(pool_bytes, tuple(self.resident), *columns[:6].astype(np.int64), *columns[6:], log=log)


def _residual(problem: Problem, resident: np.ndarray) -> float:
    """Error that remains with the ``resident`` pages."""
    added_by = problem.hierarchy.added_by[resident]
    taken = np.zeros(problem.gain.size, np.bool_)
    taken[added_by[added_by >= 0]] = True
    return max(problem.base_error - total(problem.gain, taken), 0.0)
