"""The maximum closure of a DAG by a maximum flow (Picard 1976), with shares that prove it.

Surplus flows from where it arises to where a deficit absorbs it, over predecessors only; what the largest flow cannot
place is the worth of the best down-closed set. The flow is found by waves (Karzanov 1974): every wave carries surplus
one step closer to the nearest deficit, from the farthest on, by distances in the residual graph (Goldberg and Tarjan
1988). What a predecessor received may flow back to where it came from. Any flow bounds what closures are worth, so that
waves may start from any shares and end at any time: from the shares of sweeps few waves are left, and no graph
takes longer than it may.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hra.compiling import njit

# Surplus up to this part of the largest worth is rounding.
_ROUNDING = 2.0**-46


class Closure(NamedTuple):
    """What `max_closure` found.

    selected : bool [K], down-closed; is_best : whether no set is worth more, up to rounding.
    work : refinements and edges that were visited.
    """

    selected: np.ndarray
    is_best: bool
    work: float


@njit(cache=True)
def max_closure(order, worth, among, share, work=np.inf):
    """The smallest down-closed set of most worth among some refinements; all others count as taken.

    Parameters
    ----------
    order : offsets int32 [R + 1] and predecessors int32 [E], ascending for each refinement; these have smaller indices.
    worth : float64 [K], gain - price * cost.
    among : int [K], ascending.
    share : float64 [E], how these K refinements split their surplus at first; becomes the split that proves the set.
    work : refinements and edges that may be visited, after which a good set will do.

    Returns
    -------
    `Closure`.
    """
    offsets, predecessors = order
    chosen = hopeful(offsets, predecessors, among, worth, share)
    everything, among, worth = among, among[chosen], worth[chosen]
    before, inner, edge = edges_among(offsets, predecessors, among)
    after, successor, back = _reverse(before, inner)
    left, flow = _first_flow(before, inner, edge, worth, share)
    distance, queue = np.empty(worth.size, np.int32), np.empty(worth.size, np.int32)
    waiting = np.zeros(worth.size, np.bool_)
    largest = 0.0
    for each in worth:
        largest = max(largest, abs(each))
    rounding = _ROUNDING * largest
    graph, visited = (before, inner, after, successor, back), 0.0
    while True:
        reached = _distances(graph, flow, left, rounding, distance, queue)
        visited += worth.size + inner.size
        # By weak duality no closure is worth more than all surplus. That of which no deficit is in reach is the worth
        # of the set that `_select` returns (minimum cut): the best lies between, and both meet when nothing is
        # placeable.
        placeable = _placeable(left, distance, rounding)
        if placeable <= 0.0 or visited >= work:
            break
        _wave(graph, flow, left, rounding, distance, queue[:reached])
        visited += _discharge(graph, flow, left, rounding, distance, queue, waiting)
    selected, best = np.zeros(everything.size, np.bool_), _select(graph, flow, left, rounding, distance, queue)
    for i in range(best.size):  # one by one, here and below: arrays that are assigned would take seconds to compile
        selected[chosen[i]] = best[i]
    _split(offsets, among, before, edge, flow, share)
    return Closure(selected, placeable <= 0.0, visited)


@njit(cache=True, error_model="numpy")
def hopeful(offsets, predecessors, among, worth, share):
    """Which of ``among`` [K], as numbers int64, could pay for all they need if each got all that comes after it.

    The others are in no best set. Their ``share`` goes to such predecessors: these absorb all of it.
    """
    number = np.full(offsets.size - 1, -1, np.int32)
    for i, r in enumerate(among):
        number[r] = i
    most, chosen, count = worth.copy(), np.empty(among.size, np.int64), 0
    for i in range(among.size - 1, -1, -1):
        if most[i] > 0.0:
            for k in range(offsets[among[i]], offsets[among[i] + 1]):
                if number[predecessors[k]] >= 0:
                    most[number[predecessors[k]]] += most[i]
    for i, r in enumerate(among):
        low, high, without = offsets[r], offsets[r + 1], 0
        for k in range(low, high):
            p = number[predecessors[k]]
            without += p >= 0 and most[p] <= 0.0
        if without:
            for k in range(low, high):
                p = number[predecessors[k]]
                share[k] = 1.0 / without if p >= 0 and most[p] <= 0.0 else 0.0
            most[i] = 0.0
        elif most[i] <= 0.0 and high > low:  # with nothing to split: a split all the same, for other prices
            split = 0.0
            for k in range(low, high):
                split += share[k]
            for k in range(low, high):
                share[k] /= split
        if most[i] > 0.0:
            chosen[count] = i
            count += 1
    return chosen[:count]


@njit(cache=True)
def edges_among(offsets, predecessors, among):
    """Offsets [K + 1] and indices of predecessors within ``among`` [K], and the numbers of these edges."""
    number = np.full(offsets.size - 1, -1, np.int32)
    inner, before, edge = np.zeros(among.size + 1, np.int32), np.empty_like(predecessors), np.empty_like(predecessors)
    count = 0
    for i, r in enumerate(among):
        number[r] = i
        for k in range(offsets[r], offsets[r + 1]):
            if number[predecessors[k]] >= 0:
                before[count], edge[count] = number[predecessors[k]], k
                count += 1
        inner[i + 1] = count
    return inner, before[:count], edge[:count]


@njit(cache=True)
def _reverse(before, predecessors):
    """Offsets [K + 1] and indices of successors, and for each the number of its edge among ``predecessors``."""
    after, place = np.zeros(before.size, np.int32), np.zeros(before.size, np.int32)
    # A counting sort of the edges by predecessor: counts, their sums, and where each one's next edge goes.
    for p in predecessors:
        after[p + 1] += 1
    for r in range(before.size - 1):
        after[r + 1] += after[r]
        place[r + 1] = after[r + 1]
    successor, back = np.empty_like(predecessors), np.empty_like(predecessors)
    for r in range(before.size - 1):
        for k in range(before[r], before[r + 1]):
            p = predecessors[k]
            successor[place[p]], back[place[p]] = r, k
            place[p] += 1
    return after, successor, back


@njit(cache=True)
def _first_flow(before, predecessors, edge, worth, share):
    """What is left of each worth [K], and the flow over each edge, if surplus is passed on in the given shares."""
    left, flow = worth.copy(), np.zeros(predecessors.size)
    for r in range(worth.size - 1, -1, -1):
        # Predecessors outside are taken already and absorb nothing: the shares of the others are scaled up to one.
        total = 0.0
        for k in range(before[r], before[r + 1]):
            total += share[edge[k]]
        if left[r] > 0.0 and total > 0.0:
            for k in range(before[r], before[r + 1]):
                flow[k] = left[r] * (share[edge[k]] / total)
                left[predecessors[k]] += flow[k]
            left[r] = 0.0
    return left, flow


@njit(cache=True)
def _distances(graph, flow, left, rounding, distance, queue):
    """Fill ``distance`` [K] to the nearest deficit, -1 where none is in reach; ``queue`` [K] from near to far."""
    before, predecessors, after, successor, _ = graph
    head, tail = 0, 0
    for r in range(left.size):
        distance[r] = -1
        if left[r] < -rounding:
            distance[r], queue[tail] = 0, r
            tail += 1
    # Breadth first along residual edges, backwards: successors can always send more, and a predecessor can send back
    # what flows to it.
    while head < tail:
        r = queue[head]
        head += 1
        for j in range(after[r], after[r + 1]):
            if distance[successor[j]] < 0:
                distance[successor[j]], queue[tail] = distance[r] + 1, successor[j]
                tail += 1
        for k in range(before[r], before[r + 1]):
            if flow[k] > 0.0 and distance[predecessors[k]] < 0:
                distance[predecessors[k]], queue[tail] = distance[r] + 1, predecessors[k]
                tail += 1
    return tail


@njit(cache=True)
def _placeable(left, distance, rounding):
    """Surplus from which a deficit is in reach."""
    placeable = 0.0
    for r in range(left.size):
        if left[r] > rounding and distance[r] >= 0:
            placeable += left[r]
    return placeable


@njit(inline="always")
def _push(graph, flow, left, distance, r, nearer):
    """Carry the surplus of r to neighbours at the distance ``nearer``: back first, then evenly."""
    before, predecessors, after, successor, back = graph
    ways = 0
    for j in range(after[r], after[r + 1]):
        k, s = back[j], successor[j]
        # To send back is to cancel: at most what flows.
        if flow[k] > 0.0 and distance[s] == nearer and left[r] > 0.0:
            moved = min(left[r], flow[k])
            flow[k] -= moved
            left[r] -= moved
            left[s] += moved
    for k in range(before[r], before[r + 1]):
        ways += distance[predecessors[k]] == nearer
    # Edges to predecessors have no capacity: every split is a valid flow.
    if ways > 0 and left[r] > 0.0:
        moved = left[r] / ways
        for k in range(before[r], before[r + 1]):
            if distance[predecessors[k]] == nearer:
                flow[k] += moved
                left[predecessors[k]] += moved
        left[r] = 0.0


@njit(cache=True)
def _wave(graph, flow, left, rounding, distance, queue):
    """Carry all surplus one step closer to the nearest deficit, from the farthest on."""
    # From far to near: everything that passes through r has arrived when its turn comes.
    for i in range(queue.size - 1, -1, -1):
        r = queue[i]
        if left[r] > rounding and distance[r] != 0:
            _push(graph, flow, left, distance, r, distance[r] - 1)


@njit(cache=True)
def _discharge(graph, flow, left, rounding, distance, queue, waiting):
    """Carry what the wave left behind on, by distances that are raised where it got stuck; the visits made.

    Push-relabel, first in, first out (Goldberg and Tarjan 1988). Raised distances stay lower bounds. Where many have
    to be raised, to search again is cheaper.
    """
    before, predecessors, after, successor, back = graph
    n, head, count, visits = left.size, 0, 0, 0.0
    for r in range(n):
        waiting[r] = left[r] > rounding and distance[r] >= 0  # deficits that overflow, too
        if waiting[r]:
            queue[count] = r
            count += 1
    while count > 0 and visits < 2.0 * n:
        r = queue[head]
        head, count, waiting[r] = (head + 1) % n, count - 1, False
        nearest = n
        visits += 1 + after[r + 1] - after[r] + before[r + 1] - before[r]
        for j in range(after[r], after[r + 1]):
            if flow[back[j]] > 0.0 and distance[successor[j]] >= 0:
                nearest = min(nearest, distance[successor[j]])
        for k in range(before[r], before[r + 1]):
            if distance[predecessors[k]] >= 0:
                nearest = min(nearest, distance[predecessors[k]])
        if nearest == n:  # no deficit is in reach any more
            distance[r] = -1
            continue
        distance[r] = nearest + 1
        _push(graph, flow, left, distance, r, nearest)
        for j in range(after[r], after[r + 1]):
            s = successor[j]
            if distance[s] == nearest and left[s] > rounding and not waiting[s]:
                queue[(head + count) % n], waiting[s] = s, True
                count += 1
        for k in range(before[r], before[r + 1]):
            p = predecessors[k]
            if distance[p] == nearest and left[p] > rounding and not waiting[p]:
                queue[(head + count) % n], waiting[p] = p, True
                count += 1
        if left[r] > rounding:
            queue[(head + count) % n], waiting[r] = r, True
            count += 1
    return visits


@njit(cache=True)
def _select(graph, flow, left, rounding, distance, queue):
    """What surplus that reaches no deficit needs, and what feeds it: bool [K]."""
    before, predecessors, after, successor, back = graph
    selected, head, tail = np.zeros(left.size, np.bool_), 0, 0
    for r in range(left.size):
        if distance[r] < 0 and left[r] > rounding:
            selected[r], queue[tail] = True, r
            tail += 1
    # Closed under predecessors, so that it is down-closed, and under flow that comes in, so that nothing enters or
    # leaves and what is left inside is its worth.
    while head < tail:
        r = queue[head]
        head += 1
        for k in range(before[r], before[r + 1]):
            if not selected[predecessors[k]]:
                selected[predecessors[k]], queue[tail] = True, predecessors[k]
                tail += 1
        for j in range(after[r], after[r + 1]):
            if flow[back[j]] > 0.0 and not selected[successor[j]]:
                selected[successor[j]], queue[tail] = True, successor[j]
                tail += 1
    return selected


@njit(cache=True)
def _split(offsets, among, before, edge, flow, share):
    """Shares in proportion to the ``flow``; even among the inner edges if that is nothing."""
    for i, r in enumerate(among):
        low, high = before[i], before[i + 1]
        total, degree = flow[low:high].sum(), offsets[r + 1] - offsets[r]
        share[offsets[r] : offsets[r + 1]] = 0.0 if high > low else 1.0 / max(degree, 1)
        for k in range(low, high):
            share[edge[k]] = flow[k] / total if total > 0.0 else 1.0 / (high - low)
