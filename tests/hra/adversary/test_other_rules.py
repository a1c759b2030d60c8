"""Traversals with rules of their own: minimum shares, strata, soft cuts."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import hra
from hra.errors import InfeasibleShares
from hra.model.hierarchy import Hierarchy
from hra.solvers.level_shares.needs import node_levels
from tests.helpers.examples import many
from tests.helpers.instances import FAMILIES, Instance, instances
from tests.helpers.judging import judge
from tests.helpers.rational import ZERO, Exactly, reader

pytestmark = pytest.mark.unverified
ANY = st.sampled_from(sorted(FAMILIES)).flatmap(instances)


class Levels:
    """What minimum shares ask for, in fractions."""

    def __init__(self, instance: Instance, shares: dict[int, float]) -> None:
        self.hierarchy, read = instance.hierarchy, reader(instance.hierarchy.node_cost)
        self.level = node_levels(self.hierarchy, None).tolist()
        self.cost = [read(cost) for cost in self.hierarchy.node_cost.tolist()]
        budget = read(min(instance.budget, self.hierarchy.total_cost))
        self.least = {level: Fraction(repr(share)) * budget for level, share in shares.items()}

    def kept(self, selected: Sequence[bool]) -> bool:
        """Whether every level has its minimum."""
        there = dict.fromkeys(self.least, ZERO)
        for v, active in enumerate(self.hierarchy.active_nodes(np.array(selected, np.bool_)).tolist()):
            if active and self.level[v] in there:
                there[self.level[v]] += self.cost[v]
        return all(there[level] >= least for level, least in self.least.items())


@many
@given(ANY, st.dictionaries(st.integers(0, 2), st.sampled_from([0.1, 0.25, 0.3, 0.5]), max_size=2))
def test_minimum_shares_are_kept_and_bounded(instance, shares):
    assume(sum(shares.values()) <= 1)
    levels = Levels(instance, shares)
    exactly = Exactly.of(instance.problem)
    best = exactly.best(levels.kept)
    try:
        allocation = instance.allocate(hra.LevelShares(shares=shares, level=None))
    except InfeasibleShares as refusal:
        # Where costs have no common unit, a set within rounding of a minimum may not be found.
        assert best is None or ("there may be one" in refusal.what and not instance.hierarchy.units.exact)
        return
    assert best is not None
    assert levels.kept(allocation.selected.tolist())
    gained = exactly.gained(allocation.selected)
    assert exactly.affordable(exactly.spent(allocation.selected))
    assert allocation.cost <= allocation.budget
    assert gained <= best <= Fraction(allocation.upper_bound)
    assert best - gained <= Fraction(allocation.shortfall)
    verdict = hra.verify(allocation)
    assert verdict.ok, verdict.refuted


@many
@given(instances("wide"), st.sampled_from([1.0, 0.1, 0.3, 3.0, 1 / 3, 1e-30]), st.integers(1, 3))
def test_strata_share_every_unit_of_the_budget(instance, cost, strata):
    size = len(instance.hierarchy)
    nodes = Hierarchy.flat(np.full(size, cost), attributes={"stratum": np.arange(size) % strata})
    for count in range(size + 1):
        budget = nodes.cost_of(np.arange(size) < count)
        allocation = Instance(nodes, instance.gain, budget).allocate(hra.Apportion())
        assert allocation.selected.sum() == count
        judge(allocation, Exactly.of(allocation.problem).best() or ZERO)


@many
@given(ANY, st.sampled_from([1e-3, 0.5, 1e3]))
def test_soft_cuts_keep_their_promises(instance, temperature):
    pytest.importorskip("torch")
    assume(instance.hierarchy.parent is not None)
    assume(not instance.hierarchy.shrinks)
    allocation = instance.allocate(hra.SoftCut(temperature))
    judge(allocation, Exactly.of(allocation.problem).best() or ZERO)
