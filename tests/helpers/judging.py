"""What is promised of every allocation, checked in rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite

import hra
from hra.allocating.allocation import Allocation
from tests.helpers.rational import Exactly


def judge(allocation: Allocation, best: Fraction) -> None:
    """Whether ``allocation`` keeps all that is promised of it, if no choice gains more than ``best``."""
    exactly, selected = Exactly.of(allocation.problem), allocation.selected
    spent, gained = exactly.spent(selected), exactly.gained(selected)
    assert exactly.affordable(spent)
    assert allocation.cost <= allocation.budget
    for before, after in allocation.hierarchy.edges.tolist():
        assert selected[before] or not selected[after]
    assert all(taken or not pin for taken, pin in zip(selected.tolist(), exactly.pinned, strict=True))
    assert all(map(isfinite, (allocation.gain, allocation.residual, allocation.shortfall, allocation.upper_bound)))
    assert best <= Fraction(allocation.upper_bound)
    assert best - gained <= Fraction(allocation.shortfall)
    residual = exactly.least_error + exactly.everything - gained
    judge_gaps(allocation, best, gained, residual)
    verdict = hra.verify(allocation)
    assert verdict.ok, verdict.refuted
    assert not verdict.unproven


def judge_gaps(allocation: Allocation, best: Fraction, gained: Fraction, residual: Fraction) -> None:
    """Whether gaps and status understate nothing; quotients of two doubles are rounded."""
    missed, least = best - gained, residual - (best - gained)
    assert missed <= quotient(allocation.gap) * best
    if isfinite(allocation.residual_gap):
        assert missed <= quotient(allocation.residual_gap) * least
    if allocation.status == "optimal":
        assert missed <= Fraction(1.001e-12) * least


def quotient(value: float) -> Fraction:
    """The most that a quotient of doubles may have been before it was rounded."""
    return Fraction(value) * Fraction(1 + 1e-12) + Fraction(5e-324)
