"""The Lagrangian relaxation of the budget, for forests and DAGs: a set, a price and a bound.

On large forests a sample of the branches guesses the price at which the capacity is exhausted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.compiling import njit
from hra.model.arrays import read_only
from hra.model.hierarchy import divisible
from hra.model.problem import Problem, no_problem
from hra.model.sets import take_with_predecessors, total
from hra.solvers.dag.dag_relaxation import dag_relaxation
from hra.solvers.forest.bracket import HullPoint, hull_point
from hra.solvers.forest.pava import hull_slopes, wide_level
from hra.solvers.selection import select_threshold

# Forests from this size on are searched around a guess of the price: the factors by which those that come from the last
# step of a sequence and from a sample may be off.
LARGE, _LAST_WIDTH, _SAMPLE_WIDTH = 20_000, 1.04, 1.13
# Below the first level that holds at least this share of all refinements, every so manyth branch stands for its like:
# every 31st, or for larger forests fewer, so that about 800 are sampled whatever the size.
_SHARE, _STRIDE, _PER_STRIDE = 1 / 40, 31, 32_000


def sampled_price(problem: Problem) -> float | None:
    """Gain per cost near which the capacity is exhausted; None where a forest has few long branches.

    Whole branches are sampled because pooling changes slopes: the price from refinements' own ratios may be far off.
    """
    first_child, size = problem.hierarchy.first_child, problem.gain.size
    low, high = wide_level(first_child, int(_SHARE * size))
    if low == size:
        return None
    stride = max(_STRIDE, size // _PER_STRIDE)
    first, gain, cost = _sample(first_child, problem.gain, problem.cost, low, high, stride)
    return select_threshold(hull_slopes(read_only(first), gain, divisible(cost)), cost, problem.capacity)


@njit(cache=True)
def _sample(first_child, gain, cost, low, high, stride):
    """All before ``low``, and every ``stride``-th from ``low`` to ``high`` with all beneath it, as a forest.

    Returns its `first_child` [K + 1], gains [K] and costs [K], those of the sampled branches multiplied.
    """
    size = first_child.size - 1
    ids, first = np.empty(size, np.int32), np.empty(size + 1, np.int32)
    begin, end, head, tail = 0, first_child[0], -1, 0
    while True:
        # The forest that comes out is in level order, too: its list is the queue, children are put behind the tail.
        for u in range(begin, end):
            if not low <= u < high or (u - low) % stride == 0:
                ids[tail] = u
                tail += 1
        head += 1
        first[head] = tail
        if head == tail:
            break
        begin, end = first_child[ids[head]], first_child[ids[head] + 1]
    # As if each sampled branch stood there ``stride`` times: slopes are quotients and stay, costs add up to about all.
    gains, costs = np.empty(tail), np.empty(tail)
    for k in range(tail):  # one by one: what NumPy does with whole arrays would take seconds to compile
        stands_for = 1.0 if ids[k] < low else float(stride)
        gains[k], costs[k] = gain[ids[k]] * stands_for, cost[ids[k]] * stands_for
    return first[: tail + 1], gains, costs


@dataclass(frozen=True, eq=False)
class Relaxation:
    """A set within the capacity and what is known of the rest.

    Attributes
    ----------
    selected : bool [R], down-closed.
    price : gain per unit cost.
    priority : float64 [R], to rank what is left; negative for what is not a candidate. Valid until the next solve.
    upper_bound : no set within the capacity gains more, up to rounding (`duals` makes proofs).
    candidates : int [K] or None for all, the refinements near the price.
    share : float64 [E] or None, on graphs: the split of surplus over predecessors that proves the bound.

    Examples
    --------
    >>> import hra
    >>> problem = hra.solve(hra.Hierarchy.flat([3, 2, 2]), budget=4, gains=[6.0, 3.0, 2.0]).problem
    >>> found = hra.relaxation(problem)
    >>> isinstance(found, hra.Relaxation), found.price, found.priority
    (True, 1.5, array([2. , 1.5, 1. ]))
    """

    selected: np.ndarray
    price: float
    priority: np.ndarray
    upper_bound: float
    candidates: np.ndarray | None = None
    share: np.ndarray | None = None


def relaxation(problem: Problem) -> Relaxation:
    """Solve the relaxation; exact on forests, a set with a valid bound on DAGs.

    Examples
    --------
    >>> import hra
    >>> problem = hra.solve(hra.Hierarchy.flat([3, 2, 2]), budget=4, gains=[6.0, 3.0, 2.0]).problem
    >>> found = hra.relaxation(problem)
    >>> found.selected, found.price, found.upper_bound
    (array([ True, False, False]), 1.5, 7.5)
    """
    if not isinstance(problem, Problem):
        raise no_problem(problem)
    if problem.hierarchy.parent is None:
        return Relaxation(*dag_relaxation(problem))
    if problem.is_unlimited:
        return _everything(problem)
    near = _near_price(problem) if problem.gain.size >= LARGE else None
    return _pool(problem) if near is None else _near(problem, near)


def _everything(problem: Problem) -> Relaxation:
    """All that gains, and what it needs: slopes are quotients, in which the least gains could vanish."""
    useful = problem.gain > 0
    take_with_predecessors(*problem.hierarchy.predecessors, useful)
    return Relaxation(useful, 0.0, problem.ratio, total(problem.gain, useful))


def _pool(problem: Problem) -> Relaxation:
    """The hull point from the slopes of the whole forest."""
    hierarchy = problem.hierarchy
    slope = hull_slopes(hierarchy.first_child, problem.gain, problem.slope_cost)
    # Slopes fall from coarse to fine, so that all above a price are down-closed; and no set that costs no more gains
    # more than they do (Everett 1963).
    price = max(select_threshold(slope, problem.cost, problem.capacity), 0.0)
    selected = slope > price
    # The set is the best one at this price, so that the bound lies above it by what the unused capacity is worth.
    unused = problem.capacity - total(problem.cost, selected)
    return Relaxation(selected, price, slope, total(problem.gain, selected) + price * unused)


def _near_price(problem: Problem) -> HullPoint | None:
    """The hull point near the last price of a sequence, or near the price that a sample suggests."""
    guess = sampled_price(problem) if problem.price is None else problem.price
    if guess is None or not 0.0 < guess < np.inf or problem.capacity <= 0:
        return None
    return hull_point(problem, guess, _SAMPLE_WIDTH if problem.price is None else _LAST_WIDTH)


def _near(problem: Problem, point: HullPoint) -> Relaxation:
    priority = problem.hierarchy.scratch.array("priority", problem.gain.shape)
    priority.fill(-1.0)
    priority[point.undecided] = point.slope
    return Relaxation(point.selected, point.price, priority, point.upper_bound, point.undecided)
