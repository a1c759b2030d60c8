"""Best-first completion: from any valid set, take the ready refinement of highest priority that still fits."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(inline="always")
def _before(priority, a, b):
    """Higher priority first; ties go to the smaller index, so that results do not depend on the heap's layout."""
    return priority[a] > priority[b] or (priority[a] == priority[b] and a < b)


@njit(cache=True)
def _push(heap, size, priority, r):
    i = size
    while i > 0 and _before(priority, r, heap[(i - 1) // 2]):
        heap[i] = heap[(i - 1) // 2]
        i = (i - 1) // 2
    heap[i] = r
    return size + 1


@njit(cache=True)
def _pop(heap, size, priority):
    size -= 1
    r, i = heap[size], 0
    while 2 * i + 1 < size:
        j = 2 * i + 1
        if j + 1 < size and _before(priority, heap[j + 1], heap[j]):
            j += 1
        if not _before(priority, heap[j], r):
            break
        heap[i] = heap[j]
        i = j
    heap[i] = r
    return size


@njit(cache=True)
def complete(edges, offsets, successors, cost, priority, capacity, least, selected):
    """Extend ``selected`` [R] in place until no ready refinement of priority >= ``least`` fits; return what is left.

    A refinement that does not fit is skipped for good: what is left only shrinks. ``capacity`` is what remains after
    the refinements that are selected already.
    """
    n = cost.size
    waiting = np.zeros(n, np.int32)
    for e in range(edges.shape[0]):
        if not selected[edges[e, 0]]:
            waiting[edges[e, 1]] += 1
    heap, size, left = np.empty(n, np.int32), 0, capacity
    for r in range(n):
        if not selected[r] and waiting[r] == 0 and cost[r] <= left and priority[r] >= least:
            size = _push(heap, size, priority, r)
    while size > 0:
        r = heap[0]
        size = _pop(heap, size, priority)
        if cost[r] > left:
            continue
        selected[r] = True
        left -= cost[r]
        for k in range(offsets[r], offsets[r + 1]):
            s = successors[k]
            waiting[s] -= 1
            if waiting[s] == 0 and cost[s] <= left and priority[s] >= least:
                size = _push(heap, size, priority, s)
    return left
