"""What proves a bound: a price, and how refinements pay for what they need.

At a price >= 0 every refinement is worth w = gain - price * cost. Let every refinement pass a flow f >= 0 over
each of its edges to what it needs first, and let e be what is left of its worth with what it receives and without what
it passes on. For every down-closed set S within a capacity C, flows between members of S cancel, so that

    gain(S) = sum of w over S + price * cost(S)
            = sum of e over S - flows from outside into S + price * cost(S)
           <= sum of max(e, 0) over all refinements + price * C.

The right-hand side bounds every set, whatever the price >= 0 and f >= 0 are (linear programming duality for closures:
Picard 1976, with the capacity's multiplier: Everett 1963). Its distance from a set S,

    price * (C - cost(S)) + flows into S from outside + max(-e, 0) over S + max(e, 0) outside of S,

is a sum of terms >= 0, none of which is larger than what it speaks of: computed in this form, a dominant gain cannot
hide what the others leave. Everything is rounded outward, so that the distance holds for the numbers as they are.
Refinements that cost more than C with what they need are in no such S: their gains count as 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hra.compiling import njit
from hra.model.precise import ceiling, down, precise_total, up
from hra.model.problem import Problem
from hra.model.sets import magnitude
from hra.model.short_repr import ShortRepr
from hra.model.solution import Solution

# Products below this can be split into two doubles without overflow.
_SPLITTABLE = 1e290
_SPLITTER = 134217729.0  # 2**27 + 1 (Dekker 1971)
# What all costs together are worth at a price of which nothing is proven.
_LARGEST = 1e306
# What is worth less than this part of its price has nothing to pass on, however its sums are rounded.
_CLEARLY = 1.0 - 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(ShortRepr):
    """A proof that no set within the capacity gains much more than the one that was chosen.

    Attributes
    ----------
    price, unit : the price >= 0 is ``price / unit``, gain per cost unit; ``unit`` is exact.
    flow : float64 [E] >= 0, what each successor passes to its predecessor, in the order of ``Hierarchy.edges``.
    shortfall : by how much another set can exceed the gain of the chosen one at most; never rounded down.
    """

    price: float
    unit: Fraction
    flow: np.ndarray
    shortfall: float


def certify(problem: Problem, selected: np.ndarray, price: float, share: np.ndarray | None) -> Certificate:
    """The certificate that ``price`` gives ``selected`` [R], or that of price 0 if it proves more.

    Parameters
    ----------
    share : float64 [E], how surplus is split over predecessors, or None where each refinement has at most one.
    """
    gain = problem.attainable_gain
    order, rest = problem.hierarchy.predecessors, everything_else(gain, selected)
    if 0.0 < price < np.inf and rest > 0.0:
        split, flow = np.ones(order[1].size) if share is None else share, np.empty(order[1].size)
        # A copy, since Numba compiles once more for a set that cannot be written.
        lost = distance(*order, gain, problem.cost, price, split, selected.copy(), problem.capacity, flow)
        if lost < rest:
            return Certificate(price, problem.hierarchy.units.size, flow, lost)
    # Without a price everything that is left, and not too dear, may be gained.
    return Certificate(0.0, problem.hierarchy.units.size, np.zeros(order[1].size), rest)


def shortfall_of(problem: Problem, solution: Solution) -> float:
    """How much more than the solution any set within the capacity could gain at most; inf where nothing bounds it."""
    if solution.shortfall is not None:
        return solution.shortfall
    if solution.upper_bound is not None:
        high, low, _ = precise_total(problem.gain, solution.selected)
        return max(ceiling((solution.upper_bound, -high, -low)), 0.0)
    if solution.price is not None:
        return certify(problem, solution.selected, solution.price, solution.share).shortfall
    return np.inf


@njit(inline="always")
def _two_sum(a, b):
    """A + b as a double and what rounding lost of it (Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@njit(inline="always")
def _two_product(a, b):
    """A * b as a double and what rounding lost of it (Dekker 1971)."""
    p = a * b
    x, y = _SPLITTER * a, _SPLITTER * b
    a_high, b_high = x - (x - a), y - (y - b)
    a_low, b_low = a - a_high, b - b_high
    return p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low


@njit(inline="always")
def _add(high, low, x):
    """Add ``x`` to a sum of two doubles; the lower one is rounded up."""
    s, rounding = _two_sum(high, x)
    return s, low if rounding == 0.0 else up(low + rounding)


@njit(cache=True)
def everything_else(gain, selected):
    """What is not selected [R] gains, rounded up."""
    high, low = 0.0, 0.0
    for r in range(gain.size):
        if not selected[r]:
            high, low = _add(high, low, gain[r])
    return high if low == 0.0 else up(high + low)


@njit(cache=True, nogil=True)
def distance(offsets, predecessors, gain, cost, price, share, selected, capacity, flow):
    """Distance of ``selected`` [R] from the bound that ``price`` proves, rounded up, inf on overflow; fills ``flow``.

    What is not selected passes on all that it has, rounded up, so that nothing is left of it (e <= 0); what is selected
    passes on no more than it has, rounded down (e >= 0). So only flows across the border of the set and unpaid worth
    inside of it count. Sums are kept as two doubles each: where gains and prices tie, nothing is left by rounding.
    """
    n, flow[:] = gain.size, 0.0
    if not price * magnitude(cost) < _LARGEST:  # sums of infinities would be no numbers, which no comparison notices
        return np.inf
    high, low, terms = np.zeros(n), np.zeros(n), np.zeros(n, np.int32)  # what is received, and from how many
    lost, lost_low, spent = 0.0, 0.0, 0.0
    for r in range(n - 1, -1, -1):
        inside, paid, rest = selected[r], price * cost[r], 0.0
        spent += cost[r] * inside
        if not inside and gain[r] + high[r] < paid * _CLEARLY:
            continue
        begin, end = offsets[r], offsets[r + 1]
        split = cost[r] == 0.0 or max(price, abs(paid)) < _SPLITTABLE
        if split and cost[r] != 0.0:  # 0 times a price that cannot be split would be no number
            paid, rest = _two_product(price, cost[r])
        worth, lost_a = _two_sum(gain[r], -paid)
        worth, lost_b = _two_sum(worth, high[r])
        worth, tail = _two_sum(worth, (lost_a - rest) + (lost_b + low[r]))
        exact = lost_a == 0.0 and lost_b == 0.0 and rest == 0.0 and low[r] == 0.0 and split
        # Twice what the sums above can lose: they are exact up to some 2**-104 of each term.
        margin = (terms[r] + 4.0) ** 2 * 2.0**-102 * (gain[r] + abs(paid) + high[r]) + 1e-320
        if not split:
            margin = up(margin + up(abs(paid) * 2.0**-52))
        has = worth
        if not exact:
            has = down(worth + (tail - margin)) if inside else up(worth + (tail + margin))
        # The terms max(-e, 0) inside; outside e is <= 0 except at the top, where no predecessor takes it.
        if (inside and has < 0.0) or (not inside and begin == end and has > 0.0):
            lost, lost_low = _add(lost, lost_low, abs(has))
        left = has
        if has <= 0.0:
            continue
        for k in range(begin, end):
            f = has
            if end - begin > 1:
                f = share[k] * has
                if inside:
                    f = min(f, left)
                    left = max(down(left - f), 0.0)
                else:
                    f = max(left, 0.0) if k == end - 1 else f
                    left = up(left - f)
            p = predecessors[k]
            flow[k] = f
            high[p], lost_c = _two_sum(high[p], f)
            low[p] += lost_c
            terms[p] += 1
            # A flow from outside into the set, the second term.
            if not inside and selected[p]:
                lost, lost_low = _add(lost, lost_low, f)
    unused, rest = price * (capacity - spent), 0.0
    if unused != 0.0 and max(price, unused) < _SPLITTABLE:
        unused, rest = _two_product(price, capacity - spent)
    lost, lost_low = _add(
        lost, lost_low, unused if unused == 0.0 or (max(price, unused) < _SPLITTABLE and rest == 0.0) else up(unused)
    )
    return lost if lost_low == 0.0 else up(lost + lost_low)
