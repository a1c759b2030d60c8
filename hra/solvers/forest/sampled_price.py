"""A guess of the price at which a forest exhausts its capacity, from a sample of its branches."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.model.hierarchy import divisible
from hra.model.problem import Problem
from hra.solvers.forest.blocks import wide_level
from hra.solvers.forest.pava import hull_slopes
from hra.solvers.selection import select_threshold

# Below the first level that holds at least this share of all refinements, every so manyth branch stands for its like:
# every 31st, or for larger forests fewer, so that about 800 are sampled whatever the size.
_SHARE, _STRIDE, _PER_STRIDE = 1 / 40, 31, 32_000


def sampled_price(problem: Problem) -> float | None:
    """Gain per cost near which the capacity is exhausted; None where a forest has few long branches.

    Whole branches are sampled because pooling changes slopes: the price from refinements' own ratios may be far off.
    """
    first_child, size = problem.hierarchy.first_child, len(problem.hierarchy)
    low, high = wide_level(first_child, int(_SHARE * size))
    if low == size:
        return None
    stride = max(_STRIDE, size // _PER_STRIDE)
    first, gain, cost = _sample(first_child, problem.gain, problem.cost, low, high, stride)
    return select_threshold(hull_slopes(first, gain, divisible(cost)), cost, problem.capacity)


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
    stands_for = np.where(ids[:tail] < low, 1.0, float(stride))
    return first[: tail + 1], gain[ids[:tail]] * stands_for, cost[ids[:tail]] * stands_for
