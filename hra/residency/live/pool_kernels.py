"""One frame of a resident pool, compiled: load by priority, prefetch, evict leaves that are needed last.

Wanted items are loaded by gain per byte, each after its parent.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from hra.compiling import njit
from hra.model.arrays import read_only
from hra.residency.live.recency import append, empty_lists, take_out

# Instead of a parent: one of the coarsest items, which stay for ever, or an item that depends on no other.
PINNED = -1
FREE = -2


class PoolState(NamedTuple):
    """What a pool remembers of each of N items.

    Attributes
    ----------
    there : bool [N], resident.
    children : int32 [N], resident children.
    wanted_at : int64 [N], last frame that wanted the item, -1 for none.
    coming : int64 [N], the next frame that is known to want it; nothing is known if that has begun.
    loaded_at, evicted_at : int64 [N], last frames of both, -1 for none.
    before, after : int32 [N + 1], the residents from least to most recently wanted, see `recency`.
    used : int64 [1], bytes of the residents.
    """

    there: np.ndarray
    children: np.ndarray
    wanted_at: np.ndarray
    coming: np.ndarray
    loaded_at: np.ndarray
    evicted_at: np.ndarray
    before: np.ndarray
    after: np.ndarray
    used: np.ndarray


class PoolLimits(NamedTuple):
    """Bytes of the pool and of one frame's uploads."""

    pool: int
    upload: int


class Victims(NamedTuple):
    """Where the search for victims stands in one frame: an item of the list of residents, and what it may have missed.

    Attributes
    ----------
    cursor : int64 [1], the next item to look at, -1 for the first.
    freed : int64 [1], parents that can go since their last child went.
    """

    cursor: np.ndarray
    freed: np.ndarray


def empty_state(count: int) -> PoolState:
    """The state of a pool that holds none of ``count`` items."""
    before, after = empty_lists(count, 1)
    return PoolState(
        there=np.zeros(count, np.bool_),
        children=np.zeros(count, np.int32),
        wanted_at=np.full(count, -1, np.int64),
        coming=np.full(count, -1, np.int64),
        loaded_at=np.full(count, -1, np.int64),
        evicted_at=np.full(count, -1, np.int64),
        before=before,
        after=after,
        used=np.zeros(1, np.int64),
    )


@njit(cache=True)
def load(state, cost, parents, item, frame):
    """Make ``item`` resident."""
    state.there[item] = True
    state.loaded_at[item] = frame
    state.used[0] += cost[item]
    append(state.before, state.after, item, cost.size)
    if parents[item] >= 0:
        state.children[parents[item]] += 1


@njit(cache=True)
def _evict(state, cost, parents, item, frame):
    state.there[item] = False
    state.evicted_at[item] = frame
    state.used[0] -= cost[item]
    take_out(state.before, state.after, item)
    if parents[item] >= 0:
        state.children[parents[item]] -= 1


@njit(inline="always")
def _may_go(state, parents, item, frame):
    """Whether ``item`` can be evicted: not wanted now, no resident child, not one of the coarsest."""
    return parents[item] != PINNED and state.wanted_at[item] < frame and state.children[item] == 0


@njit(cache=True)
def _least_recent(state, parents, frame, victims):
    """The least recently wanted item that can go and that no known frame wants, or -1."""
    # The list is a ring that begins and ends at this entry, which is not an item.
    end = state.after.size - 1
    while True:
        item = state.after[end] if victims.cursor[0] < 0 else victims.cursor[0]
        while item != end:
            following = state.after[item]
            if state.coming[item] <= frame and _may_go(state, parents, item, frame):
                victims.cursor[0] = following
                return item
            item = following
        victims.cursor[0] = end
        if victims.freed[0] == 0:
            return -1
        # The search may have passed them.
        victims.cursor[0], victims.freed[0] = -1, 0


@njit(cache=True)
def _last_wanted(state, parents, frame):
    """A heap of (- next frame that wants it, -item) of all that can go and that a known frame wants."""
    heap = [(np.int64(0), np.int64(0))]
    heap.clear()
    item = state.after[state.after.size - 1]
    while item != state.after.size - 1:
        if state.coming[item] > frame and _may_go(state, parents, item, frame):
            heap.append((-state.coming[item], np.int64(-item)))
        item = state.after[item]
    heapq.heapify(heap)
    return heap


@njit(cache=True)
def _make_room(state, items, frame, needed, pool, until, leaving, events, e):
    """Evict until ``needed`` bytes fit, nothing that is wanted in frame ``until`` or before; the number of events.

    ``items`` are cost and parents, ``leaving`` what finds the next to go: `Victims`, and a heap of what is to come.
    """
    (cost, parents), (victims, heap) = items, leaving
    while state.used[0] + needed > pool:
        victim = _least_recent(state, parents, frame, victims)
        if victim < 0:
            if len(heap) == 0:
                heap.extend(_last_wanted(state, parents, frame))
            if len(heap) == 0 or -heap[0][0] <= until:
                return e
            victim = -heapq.heappop(heap)[1]
            # The heap is made once and not kept up to date: what has gone, or is wanted or refined by now, is passed
            # over.
            if not state.there[victim] or not _may_go(state, parents, victim, frame):
                continue
        _evict(state, cost, parents, victim, frame)
        above = parents[victim]
        if above >= 0 and state.coming[above] <= frame and _may_go(state, parents, above, frame):
            victims.freed[0] += 1
        events[e] = -1 - victim
        e += 1
    return e


@njit(cache=True)
def keep_with_parents(queue, parents, possible):
    """Make impossible, in place, what of ``queue`` has a parent that is; parents come first in it."""
    for item in queue:
        if parents[item] >= 0 and not possible[parents[item]]:
            possible[item] = False


@njit(cache=True)
def _touch(state, queue):
    """Children come first, so that they are evicted first."""
    for k in range(queue.size - 1, -1, -1):
        if state.there[queue[k]]:
            take_out(state.before, state.after, queue[k])
            append(state.before, state.after, queue[k], state.after.size - 1)


@njit(cache=True)
def advance(state, cost, parents, frame, queue, soon, limits, events):
    """One frame; the number of events, as in a `Log`.

    Parameters
    ----------
    parents : int32 [N], or `PINNED` or `FREE`.
    queue : what is wanted now and can be loaded, in order of loading, parents first; all of it fits into the pool.
        ``state.wanted_at`` tells of all that is wanted.
    soon : what is loaded ahead, the next frame's items first; ``state.coming`` tells when they are wanted.
    """
    victims, heap = Victims(np.full(1, -1, np.int64), np.zeros(1, np.int64)), [(np.int64(0), np.int64(0))]
    heap.clear()
    items, leaving = (cost, parents), (victims, heap)
    left, e, full = limits.upload, 0, False
    for item in queue:
        # Strictly in order: a large item is not overtaken for ever by small ones.
        full = full or (not state.there[item] and cost[item] > left)
        if not state.there[item] and not full:
            e = _make_room(state, items, frame, cost[item], limits.pool, frame, leaving, events, e)
            load(state, cost, parents, item, frame)
            left -= cost[item]
            events[e] = item
            e += 1
    _touch(state, queue)
    victims.cursor[0] = -1  # it may have been moved
    for item in soon[: 0 if full else soon.size]:
        if state.there[item] or (parents[item] >= 0 and not state.there[parents[item]]):
            continue
        # Do no harm: what is prefetched must be needed before what makes room for it.
        until = state.coming[item]
        if cost[item] <= left:
            e = _make_room(state, items, frame, cost[item], limits.pool, until, leaving, events, e)
        if cost[item] > left or state.used[0] + cost[item] > limits.pool:
            return e
        load(state, cost, parents, item, frame)
        left -= cost[item]
        events[e] = item
        e += 1
    return e


def priority_order(items: np.ndarray, gain: np.ndarray, cost: np.ndarray, parents: np.ndarray) -> np.ndarray:
    """Positions of ``items`` [n] by falling gain per byte, each after its parent, ties by id; int64 [n].

    Parameters
    ----------
    gain : float64 [n], of each item.
    cost, parents : int [N], of all items; a negative parent is none.
    """
    # Read-only all of them, so that one kind is compiled.
    rank, depth = _ranks(*map(read_only, (items, gain, cost, parents)))
    return np.lexsort((items, depth, -rank))


@njit(cache=True)
def _ranks(items, gain, cost, parents):
    """Gain per byte, at most that of any ancestor among the items, and the number of those ancestors."""
    position = np.full(cost.size, -1, np.int32)
    for k in range(items.size):
        position[items[k]] = k
    rank, depth = np.empty(items.size), np.zeros(items.size, np.int32)
    for k in range(items.size):
        rank[k] = gain[k] / cost[items[k]]
        above = parents[items[k]]
        while above >= 0 and position[above] >= 0:
            rank[k] = min(rank[k], gain[position[above]] / cost[above])
            depth[k] += 1
            above = parents[above]
    return rank, depth
