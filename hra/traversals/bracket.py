"""The hull point of a forest near a known price, without pooling all of it.

One sweep at a price (children before parents) says what is worth taking at it, at the speed of memory. Sets at falling
prices are nested, so two prices around the budget leave undecided only what is taken at the lower but not at the higher
one, and slopes are needed for that remainder alone. The sweep is the tree form of generalised BFOS pruning at a fixed
multiplier (Chou, Lookabaugh and Gray 1989).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from hra.hierarchy import divisible
from hra.problem import Problem
from hra.traversals.pava import hull_slopes
from hra.traversals.selection import select_threshold

# Half the width of the first bracket around the guess; how often it may move or widen before plain pooling is cheaper.
_WIDTH, _TRIES = 1.02, 3


@njit(cache=True)
def _sweep(parent, first_child, gain, cost, high, low, worth, state):
    """Best sets at the prices ``high`` >= ``low`` and their costs.

    ``state`` [R] becomes 2 for what is taken at both prices, 1 for what is taken at ``low`` only, 0 for the rest;
    ``worth`` [R, 2] is scratch memory.
    """
    for v in range(parent.size - 1, -1, -1):
        above, below = gain[v] - high * cost[v], gain[v] - low * cost[v]
        for u in range(first_child[v], first_child[v + 1]):
            above += worth[u, 0]
            below += worth[u, 1]
        worth[v, 0], worth[v, 1] = max(above, 0.0), max(below, 0.0)
    spent_high, spent_low = 0.0, 0.0
    for v in range(parent.size):
        reach = 2 if parent[v] < 0 else state[parent[v]]
        state[v] = 0
        if reach == 2 and worth[v, 0] > 0.0:
            state[v] = 2
            spent_high += cost[v]
            spent_low += cost[v]
        elif reach > 0 and worth[v, 1] > 0.0:
            state[v] = 1
            spent_low += cost[v]
    return spent_high, spent_low


@njit(cache=True)
def _undecided(parent, first_child, state, count):
    """What has ``state`` 1 as a forest in breadth-first order: refinements, their parents, and first children."""
    ids, above = np.empty(count, np.int32), np.full(count, -1, np.int32)
    first = np.empty(count + 1, np.int32)
    tail = 0
    for v in range(parent.size):
        if state[v] == 1 and (parent[v] < 0 or state[parent[v]] == 2):
            ids[tail] = v
            tail += 1
    for head in range(count):
        first[head] = tail
        for u in range(first_child[ids[head]], first_child[ids[head] + 1]):
            if state[u] == 1:
                ids[tail], above[tail] = u, head
                tail += 1
    first[count] = tail
    return ids, above, first


@dataclass(frozen=True, eq=False)
class HullPoint:
    """selected bool [R], the price, and the refinements that were undecided [K] with their slopes [K]."""

    selected: np.ndarray
    price: float
    undecided: np.ndarray
    slope: np.ndarray


def hull_point(problem: Problem, guess: float) -> HullPoint | None:
    """The largest hull point of a forest within the capacity if its price is near ``guess``, else None."""
    hierarchy, capacity = problem.hierarchy, problem.capacity
    forest = (hierarchy.parent, hierarchy.first_child, problem.gain, problem.cost)
    worth = hierarchy.scratch.array("worth", (len(hierarchy), 2))
    state = hierarchy.scratch.array("state", (len(hierarchy),), np.uint8)
    high, low = guess * _WIDTH, guess / _WIDTH
    for _ in range(_TRIES):
        spent, most = _sweep(*forest, high, low, worth, state)
        if spent > capacity:
            # Cost falls roughly in proportion to a rising price; step far enough to be on the other side.
            high, low = high * (spent / capacity) ** 1.5 * _WIDTH, high
        elif most <= capacity:
            high, low = low, low * (max(most, 1.0) / capacity) ** 1.5 / _WIDTH
        else:
            return _between(problem, capacity - spent, state)
    return None


def _between(problem: Problem, left: float, state: np.ndarray) -> HullPoint:
    """Decide what has ``state`` 1 by its slopes, with ``left`` to spend on it."""
    hierarchy, count = problem.hierarchy, int(np.count_nonzero(state == 1))
    undecided, above, first = _undecided(hierarchy.parent, hierarchy.first_child, state, count)
    cost = problem.cost[undecided]
    slope = hull_slopes(above, first, problem.gain[undecided], divisible(cost))
    price = select_threshold(slope, cost, left)
    selected = state == 2
    selected[undecided[slope > price]] = True
    return HullPoint(selected, float(price), undecided, slope)
