"""A pool of allocators through any sequence of budgets, limits, contexts and restarts, beside every choice there is."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

import hra
from hra.errors import BudgetTooSmall
from tests.helpers.allocators import Plain, Table

NODES = 4


def choices(parent: np.ndarray, cost: np.ndarray, gain: np.ndarray) -> list[tuple[float, float]]:
    """Cost and gain of every valid set of nodes; roots are always there, and their gain is nobody's choice."""
    found = []
    for taken in product((False, True), repeat=NODES):
        if all(taken[i] if parent[i] < 0 else taken[parent[i]] or not taken[i] for i in range(NODES)):
            found.append((float(cost[list(taken)].sum()), float(gain[np.array(taken) & (parent >= 0)].sum())))
    return found


class Sequence(RuleBasedStateMachine):
    """Two members, whose contexts, budget and limits change from step to step."""

    @initialize(seed=st.integers(0, 10**6), hysteresis=st.sampled_from([0.0, 0.3]))
    def make(self, seed: int, hysteresis: float) -> None:
        self.random = np.random.default_rng(seed)
        self.members: list[tuple[np.ndarray, np.ndarray]] = []
        for _ in range(2):
            parent = np.r_[-1, [self.random.integers(-1, i) for i in range(1, NODES)]]
            self.members.append((parent, self.random.integers(1, 5, NODES)))
        trees = [hra.Hierarchy.tree(parent, cost, mode="add") for parent, cost in self.members]
        self.traversal = hra.Coherent(hra.Hull(), hysteresis=hysteresis)
        self.bases, self.most = [tree.base_cost for tree in trees], [np.inf, np.inf]
        self.base = sum(self.bases)
        self.allocators = [Plain(tree, Table(kind="gain"), hra.Hull()) for tree in trees]
        self.pool = hra.pool(*self.allocators, traversal=self.traversal)
        self.gains, self.last = [self.random.random(NODES) for _ in range(2)], None

    def _step(self, budget: float) -> None:
        if budget < self.base:
            with pytest.raises(BudgetTooSmall):
                self.pool.allocate(self.gains, budget, previous=self.last)
            return
        found = self.pool.allocate(self.gains, budget, previous=self.last)
        assert found.whole.cost <= budget
        assert found.whole.cost == sum(member.cost for member in found.members)
        assert all(member.cost <= most for member, most in zip(found.members, self.most, strict=True))
        both = [
            [choice for choice in choices(parent, cost, gain) if choice[0] <= most]
            for (parent, cost), gain, most in zip(self.members, self.gains, self.most, strict=True)
        ]
        affordable = [a[1] + b[1] for a, b in product(*both) if a[0] + b[0] <= budget]
        best = max(affordable)
        assert found.whole.gain <= best + 1e-9
        assert found.whole.upper_bound >= best - 1e-9
        self.last = found

    @rule(budget=st.integers(0, 40))
    def budget_changes(self, budget: int) -> None:
        self._step(budget)

    @rule(which=st.integers(0, 1), seed=st.integers(0, 1000))
    def a_context_changes(self, which: int, seed: int) -> None:
        self.gains[which] = np.random.default_rng(seed).random(NODES)
        self._step(20)

    @rule(rooms=st.tuples(*[st.one_of(st.none(), st.integers(0, 12))] * 2))
    def limits_change(self, rooms: tuple[int | None, ...]) -> None:
        self.most = [np.inf if room is None else base + room for base, room in zip(self.bases, rooms, strict=True)]
        limits = [(None, most) for most in self.most]
        self.pool = hra.pool(*self.allocators, traversal=self.traversal, limits=limits)
        self._step(20)

    @rule()
    def the_past_is_forgotten(self) -> None:
        self.last = None
        self._step(15)


TestSequence = Sequence.TestCase
TestSequence.settings = settings(max_examples=40, stateful_step_count=20, deadline=None, derandomize=True)
