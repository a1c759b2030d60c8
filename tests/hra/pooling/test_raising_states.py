"""A pool whose metrics, builders and traversal raise or talk nonsense now and then, beside one that is made again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

import hra
from hra.errors import BudgetTooSmall, HraError, MetricError
from hra.model.builder import HierarchyBuilder
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from hra.model.solution import Solution
from hra.pooling.pool import Pool, PooledAllocation
from hra.traversals.base import Traversal
from tests.helpers.allocators import Plain, Table

MEMBERS, SHAPES, NODES = 2, 7, 5  # more shapes than a pool remembers unions


class Fault(Exception):
    """What a plug-in of somebody else raises."""


@dataclass(frozen=True)
class Seen:
    """A context: which hierarchy it has, the gains of its nodes, and what goes wrong."""

    shape: int
    gains: tuple[float, ...]
    wrong: str = ""


class Builder(HierarchyBuilder):
    def __init__(self) -> None:
        rng = np.random.default_rng(3)
        parents = [np.r_[-1, [rng.integers(0, i) for i in range(1, NODES)]] for _ in range(SHAPES)]
        self.all = [Hierarchy.tree(parent, rng.integers(1, 5, NODES), mode="add") for parent in parents]

    def build(self, context: Seen) -> Hierarchy:
        if context.wrong == "builder":
            raise Fault(context.wrong)
        return self.all[context.shape]


class Gains(Table):
    def evaluate(self, hierarchy: Hierarchy, context: Seen) -> Any:
        if context.wrong == "metric":
            raise Fault(context.wrong)
        gains = np.array(context.gains)
        if context.wrong == "nonsense":
            gains[-1] = np.nan
        return gains


@dataclass
class Moody(Traversal):
    """Raises, or takes refinements without their predecessors, once when told to."""

    wrong: str = ""

    def select(self, problem: Problem) -> Solution:
        wrong, self.wrong = self.wrong, ""
        if wrong == "raises":
            raise Fault(wrong)
        found = hra.Hull().select(problem)
        return replace(found, selected=~found.selected) if wrong == "invalid" else found


seen = st.builds(Seen, st.integers(0, SHAPES - 1), st.tuples(*[st.integers(1, 99).map(float)] * NODES))


class Sequence(RuleBasedStateMachine):
    """What was wrong in one step leaves no trace in the next; the model is a pool without a past."""

    @initialize()
    def make(self) -> None:
        self.builder, self.traversal = Builder(), Moody()
        self.pool = self._pool()
        self.last: PooledAllocation | None = None
        self.shapes: list[int] = []

    def _pool(self) -> Pool:
        members = (Plain(self.builder, Gains(kind="gain"), hra.Hull()) for _ in range(MEMBERS))
        return hra.pool(*members, traversal=self.traversal)

    def _budget(self, contexts: list[Seen], share: float) -> float:
        hierarchies = [self.builder.all[context.shape] for context in contexts]
        base, most = (sum(getattr(h, name) for h in hierarchies) for name in ("base_cost", "total_cost"))
        return base + share * (most - base)

    @rule(contexts=st.lists(seen, min_size=MEMBERS, max_size=MEMBERS), share=st.floats(0, 1))
    def allocate(self, contexts: list[Seen], share: float) -> None:
        shapes, budget = [context.shape for context in contexts], self._budget(contexts, share)
        before = self.last if shapes == self.shapes else None
        found, anew = (each.allocate(contexts, budget, previous=before) for each in (self.pool, self._pool()))
        assert np.array_equal(found.whole.selected, anew.whole.selected)
        assert (found.price, found.whole.upper_bound) == (anew.price, anew.whole.upper_bound)
        assert found.whole.cost <= budget
        self.last, self.shapes = found, shapes

    @rule(
        contexts=st.lists(seen, min_size=MEMBERS, max_size=MEMBERS),
        which=st.integers(0, MEMBERS - 1),
        wrong=st.sampled_from(["builder", "metric", "nonsense"]),
    )
    def a_member_fails(self, contexts: list[Seen], which: int, wrong: str) -> None:
        contexts[which] = replace(contexts[which], wrong=wrong)
        with pytest.raises(MetricError if wrong == "nonsense" else Fault):
            self.pool.allocate(contexts, self._budget(contexts, 0.5))

    @rule(contexts=st.lists(seen, min_size=MEMBERS, max_size=MEMBERS), wrong=st.sampled_from(["raises", "invalid"]))
    def the_traversal_fails(self, contexts: list[Seen], wrong: str) -> None:
        self.traversal.wrong = wrong
        with pytest.raises(Fault if wrong == "raises" else HraError):
            self.pool.allocate(contexts, self._budget(contexts, 0.5))

    @rule(contexts=st.lists(seen, min_size=MEMBERS, max_size=MEMBERS))
    def too_little(self, contexts: list[Seen]) -> None:
        with pytest.raises(BudgetTooSmall):
            self.pool.allocate(contexts, self._budget(contexts, 0.0) - 1)


TestSequence = Sequence.TestCase
TestSequence.settings = settings(max_examples=30, stateful_step_count=20, deadline=None, derandomize=True)
