"""The hull point of a forest near a known price, without pooling all of it.

One sweep at a price (children before parents) says what is worth taking at it, at the speed of memory. Sets at falling
prices are nested, so two prices around the budget leave undecided only what is taken at the lower but not at the higher
one, and slopes are needed for that remainder alone. The sweep is the tree form of generalised BFOS pruning at a fixed
multiplier (Chou, Lookabaugh and Gray 1989).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.compiling import njit
from hra.model.arrays import read_only
from hra.model.hierarchy import divisible
from hra.model.problem import Problem
from hra.solvers.forest.pava import hull_slopes, relaxed_gain
from hra.solvers.selection import select_threshold

# How often the bracket may move or widen before plain pooling is cheaper.
_TRIES = 3


@njit(cache=True)
def _sweep(first_child, gain, cost, high, low, worth):
    """Fill ``worth`` [R, 2]: what each refinement and the best beneath it gain less their price, ``high`` or ``low``.

    0 for what is not worth its price.
    """
    # The recursion of `relaxed_gain` at two prices in one pass: what is worth more than 0 is taken if its parent is.
    for v in range(gain.size - 1, -1, -1):
        above, below = gain[v] - high * cost[v], gain[v] - low * cost[v]
        for u in range(first_child[v], first_child[v + 1]):
            above += worth[u, 0]
            below += worth[u, 1]
        worth[v, 0], worth[v, 1] = max(above, 0.0), max(below, 0.0)


@njit(cache=True)
def _take(first_child, gain, cost, worth):
    """What is taken at the higher price: bool [R], its gain and cost; and what the lower one adds next to it [M]."""
    size = gain.size
    selected, all_gain, all_cost = np.zeros(size, np.bool_), 0.0, 0.0
    taken, added = np.empty(size, np.int32), np.empty(size, np.int32)
    begin, end, done, count, others = 0, first_child[0], 0, 0, 0
    while True:
        for u in range(begin, end):
            # What is taken at the higher price is taken at the lower one, also in floating point: costs are >= 0, and
            # products, differences and sums are rounded monotonically. So neither count ever falls.
            at_high, at_low = int(worth[u, 0] > 0.0), int(worth[u, 1] > 0.0)
            # Written in any case and counted where it belongs: nothing could predict a branch here.
            taken[count] = added[others] = u
            count += at_high
            others += at_low - at_high
        if done == count:
            return selected, all_gain, all_cost, added[:others]
        r = taken[done]
        # Only children of what is taken are met, which makes the set down-closed.
        selected[r] = True
        all_gain += gain[r]
        all_cost += cost[r]
        begin, end, done = first_child[r], first_child[r + 1], done + 1


@njit(cache=True)
def _grown(first_child, gain, cost, worth, roots):
    """What is taken at the lower price from ``roots`` on, as a forest.

    Returns the refinements [K], their `first_child` [K + 1], gains [K] and costs [K].
    """
    size = gain.size
    ids, first = np.empty(size, np.int32), np.empty(size + 1, np.int32)
    for i in range(roots.size):
        ids[i] = roots[i]
    head, tail = 0, roots.size
    while head < tail:
        first[head] = tail
        for u in range(first_child[ids[head]], first_child[ids[head] + 1]):
            ids[tail] = u
            tail += int(worth[u, 1] > 0.0)
        head += 1
    first[tail] = tail
    ids = ids[:tail].copy()
    return ids, first[: tail + 1].copy(), gain[ids], cost[ids]


@dataclass(frozen=True, eq=False)
class HullPoint:
    """selected bool [R], its price and, up to rounding, the bound there; what was undecided [K], with slopes [K]."""

    selected: np.ndarray
    price: float
    upper_bound: float
    undecided: np.ndarray
    slope: np.ndarray


def hull_point(problem: Problem, guess: float, width: float) -> HullPoint | None:
    """The largest hull point of a forest within the capacity, or None if its price is far from ``guess``.

    ``width`` > 1 is the factor by which the guess is expected to be off.
    """
    hierarchy, capacity = problem.hierarchy, problem.capacity
    forest = hierarchy.first_child, problem.gain, problem.cost
    worth = hierarchy.scratch.array("worth", (len(hierarchy), 2))
    high, low = guess * width, guess / width
    for _ in range(_TRIES):
        _sweep(*forest, high, low, worth)
        selected, sure_gain, spent, roots = _take(*forest, worth)
        if spent > capacity:
            # Cost falls roughly in proportion to a rising price; step far enough to be on the other side.
            high, low = high * (spent / capacity) ** 1.5 * width, high
            continue
        undecided, children, gain, cost = _grown(*forest, worth, roots)
        most = spent + float(cost.sum())
        # The capacity is between both sets, and so is the hull point: the sure ones and some of the undecided.
        if most > capacity:
            slope, threshold = _slopes(children, gain, cost, capacity - spent)
            selected[undecided[slope > threshold]] = True
            price = float(np.clip(threshold, low, high))
            bound = sure_gain + _dual(children, gain, cost, price, capacity - spent)
            return HullPoint(selected, price, bound, undecided, slope)
        high, low = low, low * (max(most, 1.0) / capacity) ** 1.5 / width
    return None


def _slopes(first_child: np.ndarray, gain: np.ndarray, cost: np.ndarray, capacity: float) -> tuple[np.ndarray, float]:
    """Hull slopes [K] of what is undecided, and the one above which it fits ``capacity``."""
    # Read-only, as those of hierarchies are: compiled once for both.
    slope = hull_slopes(read_only(first_child), gain, divisible(cost))
    return slope, select_threshold(slope, cost, capacity)


def _dual(first_child: np.ndarray, gain: np.ndarray, cost: np.ndarray, price: float, capacity: float) -> float:
    """What the undecided can gain at most, at a ``price`` within the bracket.

    There the best set of the whole forest contains all that is sure and nothing beyond the undecided, as the sweeps on
    the true gains have shown. So the gain of the former and this bound add up to the dual of the whole.
    """
    return price * capacity + relaxed_gain(first_child, gain, cost, price, np.empty(gain.size))
