"""Costs as whole numbers of one common unit, so that every comparison with a budget is exact.

A cost counts as the decimal number that it prints as (0.1 is a tenth, not the double next to it) where all costs of a
hierarchy are decimals with a common unit, and as the double itself elsewhere. Whole numbers below 2**53 add up without
rounding in any order; solvers see nothing else. Where no unit is fine enough (costs of 17 random digits), each cost
lies between two whole numbers: solvers see the lower ones, which admit every set that the budget admits, and what they
choose is checked in exact arithmetic (see `hra.solvers.reduction`).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hra.caching import cached_property
from hra.model.arrays import EXACT_LIMIT, group
from hra.model.precise import ceiling, precise_total
from hra.model.short_repr import ShortRepr

# Decimals that are tried; more do not fit into 53 bits together with a digit before the point.
_DECIMALS = 15
# More units than all costs of a hierarchy have together, exact as a double.
_MOST = 2**54


@dataclass(frozen=True, eq=False, repr=False)
class Units(ShortRepr):
    """The costs of nodes in whole units.

    Attributes
    ----------
    size : cost units per unit.
    exact : whether every cost is a whole number of units.
    decimal : whether the unit is 1 or a part in a power of ten: costs and budgets count as the decimals they print as.
    low, high : float64 [N], the whole numbers around each cost; the same array where costs are exact.
    """

    size: Fraction
    exact: bool
    decimal: bool
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, cost: np.ndarray, *, decimal: bool = True) -> Units:
        """The unit of ``cost`` [N], finite and >= 0, with a sum of at most 2**53.

        Unless ``decimal``, fractions count as the doubles that they are, even if all of them are short decimals.
        """
        if bool((cost == np.floor(cost)).all()):
            return cls(Fraction(1), True, True, cost, cost)
        return (_decimal(cost) if decimal else None) or _binary(cost) or _equal(cost) or _enclosing(cost)

    @cached_property
    def whole(self) -> int:
        """Units of all nodes together, where each cost is a whole number of them."""
        return int(self.low.sum())

    def floor(self, number: float) -> float:
        """The most whole units within ``number`` cost units (a budget, a limit); 2**54 for more than all costs."""
        if number == math.inf:
            return number
        return float(min(math.floor(number if self.size == 1 else self.value(number)), _MOST))

    def ceil(self, number: float) -> float:
        """The fewest whole units that cover ``number`` cost units; 2**54 for more than all costs."""
        return number if number == math.inf else float(min(math.ceil(self.value(number)), _MOST))

    def less(self, number: float, paid: Iterable[float]) -> float:
        """What is left of ``number`` cost units once ``paid`` are gone, never rounded up."""
        if number == math.inf:
            return number
        left = self.value(number) - sum(map(self.value, paid), Fraction(0))
        return _rounded_down((math.floor(left) if self.exact else left) * self.size, decimal=self.decimal)

    def cost(self, units: float) -> float:
        """``units`` in cost units: the double that prints as this decimal, otherwise the least one above it."""
        if self.size == 1:
            return float(units)
        return 0.0 - _rounded_down(-Fraction(units) * self.size, decimal=self.decimal)  # never -0.0

    def costs(self, units: np.ndarray) -> np.ndarray:
        """`cost` of many [n]; the same array where one unit is 1."""
        if self.size == 1:
            return units
        if self.decimal:
            return units / float(self.size.denominator)  # both are exact, so that this is rounded once
        if self.size.numerator == 1:
            return np.ldexp(units, 1 - self.size.denominator.bit_length())
        if self.size.numerator & (self.size.numerator - 1) == 0:
            return units * float(self.size)
        several, index = np.unique(units, return_inverse=True)  # products are rounded
        return np.array([self.cost(value) for value in several.tolist()])[index]

    def value(self, number: float) -> Fraction:
        """What a number of cost units (a budget, a limit) counts as, in units."""
        return self.exactly(number) / self.size

    def exactly(self, number: float) -> Fraction:
        """What a number of cost units counts as: what it prints as; the double itself where units are not decimals."""
        return exactly(number) if self.decimal else Fraction(number)


def _decimal(cost: np.ndarray) -> Units | None:
    """Multiples of a power of ten: each cost is the double nearest to this many units, and prints as that."""
    for digits in range(1, _DECIMALS + 1):
        factor = 10.0**digits
        if cost.sum() * factor > EXACT_LIMIT / 2:  # beyond, products could round to the wrong whole number
            return None
        units = np.rint(cost * factor)
        # Up to 2**51 units, decimals are at least two doubles apart: no shorter one is nearest to the same double, and
        # each cost prints as its own.
        if bool((units / factor == cost).all()) and units.sum() <= EXACT_LIMIT / 4:
            return Units(Fraction(1, 10**digits), True, True, units, units)
    return None


def _binary(cost: np.ndarray) -> Units | None:
    """Multiples of a power of two: sums of the doubles themselves are exact."""
    exponent = _least_exponent(cost)
    units = np.ldexp(cost, -exponent)
    if not bool((units == np.floor(units)).all()):
        return None
    # The unit is as coarse as the lowest bit of all costs allows.
    bits = int(np.bitwise_or.reduce(units.astype(np.int64)))
    spare = (bits & -bits).bit_length() - 1
    units = np.ldexp(units, -spare)
    return Units(Fraction(2) ** (exponent + spare), True, False, units, units)


def _equal(cost: np.ndarray) -> Units | None:
    """One cost for all that cost anything."""
    paid = cost[cost > 0]
    if paid.min() < paid.max():
        return None
    units = (cost > 0).astype(np.float64)
    return Units(Fraction(float(paid[0])), True, False, units, units)


def _enclosing(cost: np.ndarray) -> Units:
    """The finest power of two in which all costs together fit into 53 bits."""
    exponent = _least_exponent(cost)
    units = np.ldexp(cost, -exponent)
    return Units(Fraction(2) ** exponent, False, False, np.floor(units), np.ceil(units))


def _least_exponent(cost: np.ndarray) -> int:
    """The exponent of the finest power of two of which the sum of all costs is less than 2**52."""
    return max(math.frexp(float(cost.sum()))[1] - 52, -1074)


def exactly(number: float) -> Fraction:
    """The decimal that ``number`` prints as."""
    return Fraction(repr(float(number)))


def rescale(price: float, old: Fraction, new: Fraction) -> float:
    """A price per unit of size ``old`` as one per unit of size ``new``; finite, up to rounding the same."""
    return float(min(Fraction(price) * new / old, Fraction(sys.float_info.max))) if 0 < price < math.inf else price


def _rounded_down(value: Fraction, *, decimal: bool) -> float:
    """The largest double that counts as at most ``value``; one that is ``decimal`` counts as what it prints as."""
    nearest = float(value)
    return nearest if decimal or Fraction(nearest) <= value else math.nextafter(nearest, -math.inf)


def swap_units(
    units: Units, cost: np.ndarray, added_by: np.ndarray, removed_by: np.ndarray, size: int
) -> tuple[np.ndarray, np.ndarray]:
    """Whole units [R] around what each refinement costs, low and high: what it adds less what it removes.

    Parameters
    ----------
    cost : float64 [N], of the nodes.
    added_by, removed_by : int32 [N], the refinement that activates or deactivates a node, -1 for none.
    """
    # An enclosure of a difference: the least of what comes less the most of what goes.
    low = _sums(added_by, units.low, size) - _sums(removed_by, units.high, size)
    if units.exact:
        return low, low
    high = _sums(added_by, units.high, size) - _sums(removed_by, units.low, size)
    unclear = np.flatnonzero((low < 0) & (high >= 0))
    if unclear.size:
        (come_at, come), (go_at, go) = group(added_by, size), group(removed_by, size)
        for r in unclear.tolist():
            come_cost, go_cost = cost[come[come_at[r] : come_at[r + 1]]], cost[go[go_at[r] : go_at[r + 1]]]
            # Whether a refinement costs or saves anything must not depend on rounding.
            exact = math.fsum([*come_cost.tolist(), *(-go_cost).tolist()])
            low[r], high[r] = (low[r] if exact < 0 else 0.0), (high[r] if exact > 0 else 0.0)
    return low, high


def _sums(by: np.ndarray, values: np.ndarray, size: int) -> np.ndarray:
    known = by >= 0
    return np.bincount(by[known], values[known], size).astype(np.float64)


def rounded_up_sum(values: np.ndarray, selected: np.ndarray) -> float:
    """The least double that is not below the exact sum of ``values`` [N] over the ``selected`` [N]."""
    nearest, rest, missed = precise_total(values, selected)
    if abs(rest) <= missed and missed > 0:  # too close to a double to be sure
        return ceiling(values[selected].tolist())
    return math.nextafter(nearest, math.inf) if rest > 0 else nearest
