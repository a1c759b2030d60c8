"""Sums whose rounding is known: compensated ones, and ones that are rounded outward.

Numba rounds to nearest only, so a number that must not fall below the exact result is moved up by at least one unit in
its last place after every operation: x + |x| 2**-52 + 2**-1074 is at least the next double after x.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from hra.compiling import njit

_STEP, _LEAST = 2.0**-52, 5e-324


@njit(inline="always")
def up(x):
    """A double above the number that was rounded to ``x``."""
    return x + (abs(x) * _STEP + _LEAST)


@njit(inline="always")
def down(x):
    """A double below the number that was rounded to ``x``."""
    return x - (abs(x) * _STEP + _LEAST)


@njit(cache=True)
def precise_total(values, selected):
    """Sum of ``values`` [R] over the ``selected`` [R] as an unevaluated sum of two doubles (Knuth's two-sum).

    Returns the two, and a bound on what they miss: 0 where no rounding was lost, as for whole numbers.
    """
    high, low, magnitude = 0.0, 0.0, 0.0
    for r in range(selected.size):
        if selected[r]:
            x = values[r]
            # The next three lines find what the sum is rounded by, without an error, whichever of the two is larger
            # (Knuth 1969).
            s = high + x
            t = s - high
            rounding = (high - (s - t)) + (x - t)
            low += rounding
            magnitude += abs(rounding)
            high = s
    s = high + low
    return s, low - (s - high), magnitude * selected.size * _STEP


@njit(cache=True)
def precise_difference(values, more, less):
    """Sum of ``values`` [R] over what ``more`` [R] selects but ``less`` [R] does not, less the other way round."""
    high, low = 0.0, 0.0
    for r in range(more.size):
        if more[r] != less[r]:
            x = values[r] if more[r] else -values[r]
            s = high + x
            t = s - high
            low += (high - (s - t)) + (x - t)
            high = s
    return high + low


def ceiling(parts: Sequence[float]) -> float:
    """The least double that is not below the exact sum of ``parts``."""
    nearest = math.fsum(parts)
    if not math.isfinite(nearest):
        return nearest
    return math.nextafter(nearest, math.inf) if math.fsum((*parts, -nearest)) > 0 else nearest


def ulps(count: int, magnitude: float) -> float:
    """A bound on the rounding of ``count`` additions whose terms have a sum of absolute values of ``magnitude``."""
    return 2.0 * (count + 2) * 2.0**-53 * magnitude + (count + 2) * _LEAST
