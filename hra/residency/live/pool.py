"""A pool of bytes over the frames of a session: what is resident, what is queued, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.errors import ArrayError, BudgetTooSmall, HraError, InvalidBudget, check_kind
from hra.model.arrays import frozen, indices, is_number, numbers, read_only, to_numpy
from hra.residency.live.explanation import Explanation
from hra.residency.live.pool_kernels import (
    FREE,
    PINNED,
    PoolLimits,
    advance,
    empty_state,
    keep_with_parents,
    load,
    priority_order,
)
from hra.traversals.base import is_whole

_NO_LIMIT = 2**62


@dataclass(frozen=True, eq=False)
class FrameChanges:
    """What one frame did.

    Attributes
    ----------
    events : int32 [E], in order: item ``i`` was loaded (``i``) or evicted (``-1 - i``).
    queued : int32 [Q], what is wanted and not resident yet, in the order in which it will be loaded.
    """

    events: np.ndarray
    queued: np.ndarray

    @property
    def loaded(self) -> np.ndarray:
        """Items that were loaded, in order."""
        return self.events[self.events >= 0]

    @property
    def evicted(self) -> np.ndarray:
        """Items that were evicted, in order."""
        return -1 - self.events[self.events < 0]


class ResidentPool:
    """Turns what each frame wants into loads and evictions; it never holds more than the pool, to the byte.

    What is wanted is loaded by gain per byte, an item only after its parent, as far as the upload limit allows; the
    rest is queued and never refused. What is no longer wanted stays until its room is needed: first goes what no known
    frame wants, least recently wanted first, then what is wanted last, and never an item under a resident child.
    Left-over uploads prefetch what the next frames want, if that is needed before what makes room for it ("do no
    harm", Cao et al. 1995, A study of integrated prefetching and caching strategies).

    Parameters
    ----------
    cost : int [N], bytes of each item, > 0.
    parents : int [N] or None, the coarser item of each, -1 for the coarsest, which are resident from the start and
        for ever, -2 for what depends on no other item. None is -2 for all.
    pool_bytes : the most that is ever resident.
    upload_bytes : the most that one frame loads, None for no limit; the coarsest items do not count.
    prefetch : how many of the frames that are known to come are loaded ahead.

    Raises
    ------
    ArrayError : costs or parents that are not such numbers, costs of more than 2**62 together, parents in a circle.
    HraError : a number of frames below 0.
    InvalidBudget : a limit that is not a number >= 0.
    BudgetTooSmall : the pool does not hold the coarsest items, or the upload limit not the largest other one.

    Examples
    --------
    >>> from hra.residency import ResidentPool
    >>> pool = ResidentPool(cost=[4, 4, 4, 4], parents=[-1, 0, 0, 1], pool_bytes=12, upload_bytes=4)
    >>> pool.advance([0, 1, 3]).loaded.tolist(), pool.advance([0, 1, 3]).loaded.tolist()
    ([1], [3])
    >>> print(pool.explain(2))
    item 2 is not resident: no frame has wanted it
    """

    def __init__(
        self, cost: Any, parents: Any = None, *, pool_bytes: int, upload_bytes: int | None = None, prefetch: int = 0
    ) -> None:
        self.cost = _checked_cost(cost)
        count = self.cost.size
        self.parents = np.full(count, FREE, np.int32) if parents is None else _checked_parents(parents, count)
        self.pool_bytes = byte_limit("pool_bytes", pool_bytes)
        self.upload_bytes = _NO_LIMIT if upload_bytes is None else byte_limit("upload_bytes", upload_bytes)
        self.coarsest = frozen(np.flatnonzero(self.parents == PINNED).astype(np.int32))
        if not (is_whole(prefetch) and prefetch >= 0):
            raise HraError(f"cannot load {prefetch!r} frames ahead", where="prefetch", fix="use 0 or more")
        self.prefetch = prefetch
        self._require_room()
        self.frame = -1
        self._state, self._gain, self._queue = empty_state(count), np.zeros(count), np.empty(0, np.int32)
        # An item is loaded at most once in a frame, and evicted at most once before that.
        self._events = np.empty(2 * count, np.int32)
        for item in self.coarsest:
            load(self._state, self.cost, self.parents, item, 0)

    def _require_room(self) -> None:
        base = int(self.cost[self.coarsest].sum())
        if base > self.pool_bytes:
            what = f"the coarsest items take {base:,} bytes, the pool has {self.pool_bytes:,}"
            raise BudgetTooSmall(what, where="pool_bytes", fix=f"use at least {base}")
        largest = int(self.cost[self.parents != PINNED].max(initial=0))
        if largest > self.upload_bytes:
            what = f"an item takes {largest:,} bytes, a frame may load {self.upload_bytes:,}"
            raise BudgetTooSmall(what, where="upload_bytes", fix=f"use at least {largest}")

    @property
    def resident(self) -> np.ndarray:
        """Whether each item is resident, bool [N], read-only; it changes with the next frame."""
        view = self._state.there.view()
        return frozen(view)

    @property
    def used_bytes(self) -> int:
        """Bytes of what is resident."""
        return int(self._state.used[0])

    def advance(
        self, wanted: Any, gain: Any = None, upcoming: Sequence[Any] = (), ready: np.ndarray | None = None
    ) -> FrameChanges:
        """Serve one frame.

        Parameters
        ----------
        wanted : int [n], items that the frame wants, all of which fit into the pool; with each item its parents.
        gain : float [n] or None, what each is worth, >= 0; None for all alike.
        upcoming : what the next frames are expected to want, the next one first, each int [m] with the parents first.
        ready : bool [N], what can be loaded in this frame because its data has arrived; None for everything.

        Raises
        ------
        ArrayError : no such items, an item without its parent, a gain below 0, or ``ready`` of another kind.
        HraError : ``upcoming`` is no sequence.
        InvalidBudget : ``wanted`` does not fit into the pool; allocate first.
        """
        wanted = indices("wanted", wanted, 0, self.cost.size)
        gain = np.ones(wanted.size) if gain is None else numbers("gain", gain, wanted.size)
        if gain.min(initial=0.0) < 0:
            where = f"gain[{int(gain.argmin())}]"
            raise ArrayError(f"{where} = {gain.min()} is below 0", where=where, fix="pass gains >= 0")
        ready = None if ready is None else _flags("ready", ready, self.cost.size)
        order = self._checked_order(wanted, gain)
        check_kind("upcoming", upcoming, Sequence, "pass a list with what each of the next frames wants")
        soon = [indices(f"upcoming[{k}]", items, 0, self.cost.size) for k, items in enumerate(upcoming)]
        self.coming.fill(-1)
        for ahead in range(len(soon) - 1, -1, -1):
            self.coming[soon[ahead]] = self.frame + 2 + ahead
        prefetched = np.concatenate([np.empty(0, np.int32), *soon[: self.prefetch]])
        return self.serve(wanted[order], gain[order], prefetched, ready)

    def _checked_order(self, wanted: np.ndarray, gain: np.ndarray) -> np.ndarray:
        """The order in which what is wanted is loaded."""
        there = np.zeros(self.cost.size, np.bool_)
        there[wanted] = there[self.coarsest] = True
        total = int(self.cost[there].sum())
        if total > self.pool_bytes:
            what = f"the frame wants {total:,} bytes, the pool has {self.pool_bytes:,}"
            raise InvalidBudget(what, where="wanted", fix="allocate within the pool first")
        above = self.parents[wanted]
        orphan = (above >= 0) & ~there[np.maximum(above, 0)]
        if orphan.any():
            item = int(wanted[orphan.argmax()])
            raise ArrayError(f"item {item} is wanted without its parent", where="wanted", fix="add all ancestors")
        return priority_order(wanted, gain, self.cost, self.parents)

    @property
    def coming(self) -> np.ndarray:
        """The next frame that is known to want each item, int64 [N]; who calls `serve` keeps it up to date."""
        return self._state.coming

    def serve(
        self, queue: np.ndarray, gain: np.ndarray, soon: np.ndarray, ready: np.ndarray | None = None
    ) -> FrameChanges:
        """`advance` without checks, for traces that have passed them.

        Parameters
        ----------
        queue : int32 [n], what is wanted in order of loading; gain : float64 [n].
        soon : int32 [m], what is loaded ahead, the next frame's items first; `coming` tells when they are wanted.
        ready : bool [N], what can be loaded; None for everything.
        """
        self.frame += 1
        self._gain[self._queue] = 0.0
        self._gain[queue], self._queue = gain, queue
        limits = PoolLimits(self.pool_bytes, self.upload_bytes)
        state, events = self._state, self._events
        state.wanted_at[queue] = self.frame  # also what cannot be loaded yet
        now = queue if ready is None else self._loadable(queue, ready)
        soon = soon if ready is None else soon[ready[soon]]
        # Read-only all of them, so that one kind is compiled.
        soon, now = read_only(soon), read_only(now)
        count = advance(state, self.cost, self.parents, self.frame, now, soon, limits, events)
        return FrameChanges(events[:count].copy(), queue[~state.there[queue]])

    def _loadable(self, queue: np.ndarray, ready: np.ndarray) -> np.ndarray:
        """What of the queue is there or can be loaded with all that comes before it."""
        possible = ready | self._state.there
        keep_with_parents(queue, self.parents, possible)
        return queue[possible[queue]]

    def explain(self, item: int) -> Explanation:
        """Why an item is resident, queued or evicted.

        Raises
        ------
        ArrayError : no such item.
        """
        (item,) = indices("item", [item], 0, self.cost.size).tolist()
        state, above = self._state, int(self.parents[item])
        waiting = self._queue[~state.there[self._queue]]
        coming = int(state.coming[item])
        return Explanation(
            item=item,
            resident=bool(state.there[item]),
            pinned=above == PINNED,
            frame=self.frame,
            bytes=int(self.cost[item]),
            gain=float(self._gain[item]),
            queue_position=int((waiting == item).argmax()) if (waiting == item).any() else None,
            missing_parent=above if above >= 0 and not state.there[above] else None,
            resident_children=int(state.children[item]),
            wanted_at=_frame(state.wanted_at[item]),
            next_wanted_at=coming if coming > self.frame else None,
            loaded_at=_frame(state.loaded_at[item]),
            evicted_at=_frame(state.evicted_at[item]),
        )


def _frame(value: Any) -> int | None:
    return None if value < 0 else int(value)


def _checked_cost(values: Any) -> np.ndarray:
    cost = indices("cost", values, 1, _NO_LIMIT + 1)  # as integers: above 2**53 floats miss some
    if cost.sum(dtype=np.float64) > _NO_LIMIT:
        raise ArrayError("the costs add up to more than 2**62 bytes", where="cost", fix="use a larger unit of cost")
    return frozen(cost)


def _checked_parents(values: Any, count: int) -> np.ndarray:
    parents = indices("parents", values, FREE, count)
    if parents.size != count:
        raise ArrayError(f"{parents.size} parents of {count} items", where="parents")
    # Each round doubles how far up it looks: after this many, all but circles have ended.
    above = np.append(np.where(parents < 0, count, parents), count)
    for _ in range(count.bit_length()):
        above = above[above]
    circle = np.flatnonzero(above < count)
    if circle.size:
        what = f"item {circle[0]} is among its own ancestors, or below one that is"
        raise ArrayError(what, where=f"parents[{circle[0]}]", fix="let parents lead to items without one")
    return parents


def _flags(name: str, values: Any, count: int) -> np.ndarray:
    flags = to_numpy(values)
    if flags.shape != (count,) or flags.dtype != np.bool_:
        what = f"{name} has {flags.dtype} of shape {flags.shape}, expected bool ({count},)"
        raise ArrayError(what, where=name, fix="say True or False of each item")
    return flags


def byte_limit(name: str, value: Any) -> int:
    """The limit ``value`` in whole bytes, rounded down; inf and all above 2**62 are 2**62.

    Raises
    ------
    InvalidBudget : not a number >= 0; says ``name``.
    """
    if not is_number(value) or not value >= 0:
        raise InvalidBudget(f"{name} must be a number of bytes >= 0, got {value!r}", where=name)
    return int(min(value, _NO_LIMIT))
