"""Every traversal against rational arithmetic: what it costs, what it proves, and what it says of itself."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.allocating.allocation import Allocation
from hra.errors import BudgetTooSmall
from hra.traversals.base import Traversal
from tests.helpers.examples import many
from tests.helpers.instances import FAMILIES, Instance, instances
from tests.helpers.rational import Exactly

TRAVERSALS: dict[str, Traversal] = {
    "hull": hra.Hull(),
    "hull-none": hra.Hull(finish="none"),
    "hull-exact": hra.Hull(exact=True),
    "exact": hra.Exact(),
    "exact-given-up": hra.Exact(max_states=1),
    "exact-little": hra.Exact(max_states=6, exact=True),
    "best-first": hra.BestFirst(),
    "threshold": hra.Threshold(),
    "threshold-tau": hra.Threshold(tau=0.4),
    "coherent": hra.Coherent(),
    "coherent-exact": hra.Coherent(hra.Exact(), hysteresis=0.5),
    "coherent-slow": hra.Coherent(max_churn=2),
}
# These take everything that gains where the budget allows it.
COMPLETE = ("hull", "hull-none", "hull-exact", "exact", "exact-given-up", "exact-little")


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


def judge_all(instance: Instance) -> None:
    """Every traversal on one instance."""
    best = None
    for name, traversal in TRAVERSALS.items():
        allocation = instance.allocate(traversal)
        if best is None:
            best = Exactly.of(allocation.problem).best()
        assert best is not None
        judge(allocation, best)
        if name in COMPLETE and instance.budget >= instance.hierarchy.largest_cost:
            assert allocation.problem.gain[~allocation.selected].sum() == 0


@pytest.mark.parametrize("family", FAMILIES)
def test_what_every_traversal_promises_is_true(family):
    @many
    @given(instances(family))
    def prove(instance):
        judge_all(instance)

    prove()


@many
@given(st.sampled_from(sorted(FAMILIES)).flatmap(lambda family: instances(family, modified=True)))
def test_what_is_promised_of_pinned_nodes_and_sequences_is_true(instance):
    try:
        judge_all(instance)
    except BudgetTooSmall:
        assert instance.pinned
