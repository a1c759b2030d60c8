"""Larger instances with whole costs: forests against dynamic programming, graphs against HiGHS."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

import hra
from hra.model.gains import gains_from_values
from hra.model.hierarchy import Hierarchy
from hra_lab.inputs.cluster_dag import cluster_dag
from tests.helpers.examples import many
from tests.helpers.hierarchies import random_edges, random_parents
from tests.helpers.instances import Instance
from tests.helpers.rational import Exactly

pytestmark = pytest.mark.unverified
SEEDS = st.integers(0, 2**32 - 1)
TRAVERSALS = (hra.Hull(), hra.Exact(), hra.Exact(max_states=20), hra.BestFirst(), hra.Hull(finish="none"))


def best_of_forest(parent: np.ndarray, cost: np.ndarray, gain: np.ndarray, room: int) -> int:
    """The most gain of a down-closed set within ``room``, by dynamic programming over a preorder."""
    size = parent.size
    children = [[r for r in range(size) if parent[r] == p] for p in range(-1, size)]
    order: list[int] = []
    stack = children[0][::-1]
    while stack:
        order.append(stack.pop())
        stack += children[order[-1] + 1][::-1]
    end = {r: i + 1 for i, r in enumerate(order)}
    for r in reversed(order):
        end[r] = max([end[r], *(end[c] for c in children[r + 1])])
    table = np.zeros((size + 1, room + 1), np.int64)
    for i in range(size - 1, -1, -1):
        r = order[i]
        table[i] = table[end[r]]
        if cost[r] <= room:
            taken = gain[r] + table[i + 1, : room + 1 - cost[r]]
            table[i, cost[r] :] = np.maximum(table[i, cost[r] :], taken)
    return int(table[0, room])


def best_of_graph(instance: Instance) -> int:
    """The most gain, by mixed-integer programming."""
    problem, edges = instance.problem, instance.hierarchy.edges
    size, row = len(instance.hierarchy), np.arange(len(edges))
    needs = coo_array(
        (np.r_[np.ones(row.size), -np.ones(row.size)], (np.r_[row, row], np.r_[edges[:, 1], edges[:, 0]])),
        shape=(row.size, size),
    )
    rules = [LinearConstraint(instance.hierarchy.cost[None], ub=instance.budget - instance.hierarchy.base_cost)]
    rules += [LinearConstraint(needs.tocsr(), ub=0)] if row.size else []
    answer = milp(
        -problem.gain, integrality=np.ones(size), bounds=Bounds(0, 1), constraints=rules, options={"mip_rel_gap": 0}
    )
    assert answer.success
    return round(-answer.fun)


def judge_whole(instance: Instance, best: int) -> None:
    """Every traversal on an instance of whole costs and gains."""
    exactly = Exactly.of(instance.problem)
    for traversal in TRAVERSALS:
        allocation = instance.allocate(traversal)
        gained = exactly.gained(allocation.selected)
        assert exactly.affordable(exactly.spent(allocation.selected))
        assert gained <= best <= gained + Fraction(allocation.shortfall) <= Fraction(allocation.upper_bound)
        assert allocation.status != "optimal" or gained == best
        if traversal == hra.Exact():
            assert (gained, allocation.status) == (best, "optimal")
            assert hra.verify(allocation).ok


@many
@given(SEEDS)
def test_forests_agree_with_dynamic_programming(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(15, 60))
    parent = random_parents(rng, size)
    cost, gain = rng.integers(0, 9, size), rng.integers(0, int(rng.choice([2, 10, 1000])), size)
    hierarchy = Hierarchy.tree(parent, cost, mode="add")
    budget = hierarchy.base_cost + float(rng.integers(0, cost.sum() + 1))
    value = gains_from_values(hierarchy, gain.astype(np.float64))
    room = int(min(budget - hierarchy.base_cost, hierarchy.cost.sum()))
    assert hierarchy.parent is not None
    best = best_of_forest(hierarchy.parent, hierarchy.cost.astype(int), value.astype(int), room)
    judge_whole(Instance(hierarchy, value, budget), best)


@many
@given(SEEDS)
def test_graphs_agree_with_mixed_integer_programming(seed):
    rng = np.random.default_rng(seed)
    if rng.random() < 0.3:
        hierarchy = cluster_dag(int(rng.integers(6, 14)), 1.2, 0.6, seed).hierarchy
    else:
        size = int(rng.integers(8, 30))
        hierarchy = Hierarchy.dag(rng.integers(0, 9, size), random_edges(rng, size, float(rng.choice([0.05, 0.2]))))
    gain = rng.integers(0, int(rng.choice([2, 10, 100])), len(hierarchy)).astype(float)
    budget = hierarchy.base_cost + float(rng.integers(0, max(int(hierarchy.cost.sum()), 1)))
    instance = Instance(hierarchy, gain, budget)
    judge_whole(instance, best_of_graph(instance))
