"""Plain reference of hull points, filled or not: blocks are merged one by one, and fills come from Python's heap.

Slow and obviously right. It takes what `hra.Hull` takes: sums over a block are added in the order in which its parts
are merged (except for parts whose slopes tie), and ties of the fills are broken in the same way.
"""

from __future__ import annotations

import heapq
import math
from typing import Any

import numpy as np

# Filling stops where the bound is nearer than this; `hra.Hull` has the same number.
CLOSE_ENOUGH = 1e-4
# SplitMix64's finaliser, as the structure keys of the solvers mix.
_FIRST, _SECOND, _ALL = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 2**64 - 1


def hull_row(
    forest: Any, slope_cost: np.ndarray, gain: np.ndarray, capacity: float, fill: bool, spend_all: bool
) -> tuple[np.ndarray, float]:
    """The hull point bool [R] of one row of gains float64 [R], filled or not, and its price."""
    cost, first, parent = forest.cost, forest.first_child, forest.parent
    ratio = gain / slope_cost
    if capacity >= cost.sum():
        selected = gain > 0
        for r in range(gain.size - 1, -1, -1):
            if selected[r] and parent[r] >= 0:
                selected[parent[r]] = True
        return (np.ones(gain.size, np.bool_) if spend_all else selected), 0.0
    slope = _slopes(first, gain, slope_cost)
    price = max(_threshold(slope, cost, capacity), 0.0)
    hull = slope > price
    if not fill:
        return hull, price
    bound = _total(gain, hull) + price * (capacity - _total(cost, hull))
    best, best_gain = hull, -1.0
    ranks = _ranks(first, gain, cost)
    for start, priority in ((hull, slope), (hull, ratio), (np.zeros_like(hull), ratio)):
        filled = _fill(forest, ranks, start, priority, capacity, spend_all)
        gained = _total(gain, filled)
        if gained > best_gain:
            best, best_gain = filled, gained
        if best_gain >= bound * (1 - CLOSE_ENOUGH):
            break
    return best, price


def _slopes(first: np.ndarray, gain: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """Slope of each refinement's block: what is steeper beneath a block is merged into it, the steepest first."""
    blocks: list[Any] = [None] * gain.size
    slope = gain / cost
    for v in range(gain.size - 1, -1, -1):
        members, below = [v], list(range(first[v], first[v + 1]))
        block_gain, block_cost = gain[v], cost[v]
        while below:
            h = max(below, key=lambda u: slope[u])
            if not slope[h] > block_gain / block_cost:
                break
            below.remove(h)
            more_gain, more_cost, more, beneath = blocks[h]
            block_gain, block_cost = block_gain + more_gain, block_cost + more_cost
            members, below = members + more, below + beneath
        blocks[v], slope[v] = (block_gain, block_cost, members, below), block_gain / block_cost
        slope[members] = slope[v]
    return slope


def _threshold(key: np.ndarray, weight: np.ndarray, capacity: float) -> float:
    """The least of the keys, or -inf, above which the weights fit the capacity."""
    fitting = -math.inf
    for t in sorted(set(key.tolist()), reverse=True):
        fitting = t
        if weight[key >= t].sum() > capacity:
            return t
    return fitting if weight.sum() > capacity else -math.inf


def _ranks(first: np.ndarray, gain: np.ndarray, cost: np.ndarray) -> list[tuple[Any, ...]]:
    """What breaks ties of priority, smallest first: gain, cost, whether anything opens up, structure key, number."""
    key = [0] * gain.size
    gain_bits, cost_bits = gain.view(np.uint64).tolist(), cost.view(np.uint64).tolist()
    for r in range(gain.size - 1, -1, -1):
        opened = sum(_mix(key[u]) for u in range(first[r], first[r + 1]))
        key[r] = _mix(_mix(gain_bits[r]) + _SECOND * _mix(cost_bits[r] + _FIRST) + opened)
    return [(-gain[r], cost[r], first[r + 1] > first[r], -key[r], r) for r in range(gain.size)]


def _mix(x: int) -> int:
    x &= _ALL
    x = (x ^ (x >> 30)) * _FIRST & _ALL
    x = (x ^ (x >> 27)) * _SECOND & _ALL
    return x ^ (x >> 31)


def _fill(
    forest: Any,
    ranks: list[tuple[Any, ...]],
    start: np.ndarray,
    priority: np.ndarray,
    capacity: float,
    spend_all: bool,
) -> np.ndarray:
    """``start`` extended by refinements that are ready and fit, first ones first."""
    selected, left = start.copy(), capacity - _total(forest.cost, start)
    wanted = (priority >= 0 if spend_all else priority > 0) & ~start
    ready = [r for r in np.flatnonzero(wanted) if forest.parent[r] < 0 or start[forest.parent[r]]]
    heap = [(-priority[r], ranks[r]) for r in ready]
    heapq.heapify(heap)
    while heap:
        _, rank = heapq.heappop(heap)
        r = rank[-1]
        if forest.cost[r] > left:
            continue
        selected[r] = True
        left -= forest.cost[r]
        for u in range(forest.first_child[r], forest.first_child[r + 1]):
            if wanted[u]:
                heapq.heappush(heap, (-priority[u], ranks[u]))
    return selected


def _total(values: np.ndarray, selected: np.ndarray) -> float:
    """Sum over the selected, as four sums over every fourth entry: the order of the solvers."""
    taken = values * selected
    whole = taken.size - taken.size % 4
    a, b, c, d = (float(np.cumsum(np.append(0.0, taken[k:whole:4]))[-1]) for k in range(4))
    for value in taken[whole:].tolist():
        a += value
    return a + b + c + d
