from __future__ import annotations

import numpy as np
import pytest

import hra


class Everything(hra.Traversal):
    def select(self, problem):
        assert (problem.cost >= 0).all()
        taken, parent = np.zeros(problem.gain.size, bool), problem.hierarchy.parent
        assert parent is not None
        for r in range(taken.size):
            taken[r] = problem.cost[: r + 1][taken[: r + 1]].sum() + problem.cost[r] <= problem.capacity and (
                parent[r] < 0 or taken[parent[r]]
            )
        return hra.Solution(taken)


def test_refinements_that_save_are_joined_before_a_strategy_sees_them():
    saving = hra.Hierarchy.tree([-1, 0, 0, 1, 1], [5, 4, 4, 1, 1])
    allocation = hra.solve(saving, budget=8, errors=[9.0, 4.0, 1.0, 1.0, 1.0], traversal=Everything())
    assert allocation.cost <= 8
    assert saving.is_valid(allocation.selected)


def test_costs_without_a_common_unit_are_within_the_budget():
    costs = np.random.default_rng(0).random(12)
    allocation = hra.solve(hra.Hierarchy.flat(costs), budget=2.5, gains=np.ones(12), traversal=Everything())
    assert sum(map(float, costs[allocation.cut])) <= 2.5


def test_a_strategy_without_select_cannot_be_made():
    with pytest.raises(TypeError, match="select"):
        type("Nothing", (hra.Traversal,), {})()
