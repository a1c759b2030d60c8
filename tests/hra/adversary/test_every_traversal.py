"""Every traversal against rational arithmetic: what it costs, what it proves, and what it says of itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.errors import BudgetTooSmall
from hra.traversals.base import Traversal
from tests.helpers.examples import many
from tests.helpers.instances import FAMILIES, Instance, instances
from tests.helpers.judging import judge
from tests.helpers.rational import Exactly

pytestmark = pytest.mark.unverified
TRAVERSALS: dict[str, Traversal] = {
    "hull": hra.Hull(),
    "hull-none": hra.Hull(finish="none"),
    "hull-exact": hra.Hull(spend_all=True),
    "exact": hra.Exact(),
    "exact-given-up": hra.Exact(max_states=1),
    "exact-little": hra.Exact(max_states=6, spend_all=True),
    "best-first": hra.BestFirst(),
    "threshold": hra.Threshold(),
    "threshold-tau": hra.Threshold(tau=0.4),
    "coherent": hra.Coherent(),
    "coherent-exact": hra.Coherent(hra.Exact(), hysteresis=0.5),
    "coherent-slow": hra.Coherent(max_churn=2),
}
# These take everything that gains where the budget allows it.
COMPLETE = ("hull", "hull-none", "hull-exact", "exact", "exact-given-up", "exact-little")


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
