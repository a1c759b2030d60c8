"""One price for a stream: what a pool over all members finds, without having them together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.allocating.allocation import Allocation
from hra.errors import HierarchyError, InvalidBudget, MetricError
from hra.model.problem import Problem
from hra.pooling.stream_price import Demand, common_price
from hra.testing.instances import random_dag


def problem(seed: int, nodes: int = 40, unit: float = 1.0) -> Problem:
    rng = np.random.default_rng(seed)
    parents = [-1, *(int(rng.integers(0, node)) for node in range(1, nodes))]
    tree = hra.Hierarchy.tree(parents, rng.integers(1, 5, nodes) * unit, mode="add")
    return hra.solve(tree, np.inf, gains=rng.integers(1, 1000, nodes).astype(np.float64)).problem


@given(seed=st.integers(0, 10_000), share=st.floats(0, 1), members=st.integers(1, 6))
def test_what_members_spend_at_the_price_is_the_best_for_its_cost(seed: int, share: float, members: int):
    problems = [problem(seed + k) for k in range(members)]
    demands = [Demand.of(one) for one in problems]
    least, most = sum(one.base for one in demands), sum(one.at(0.0) for one in demands)
    budget = np.floor(least + share * (most - least))
    price = common_price(demands, budget)
    spent = [demand.at(price) for demand in demands]
    assert sum(spent) <= budget
    for one, cost in zip(problems, spent, strict=True):
        assert one.metric is not None
        again = Problem.of(one.hierarchy, one.metric, None, cost)
        found = Allocation(again, hra.Hull(finish="none").solve(again), 0.0)
        assert found.cost == cost and found.shortfall <= 1e-9 * found.base_error
    below = [np.nextafter(price, 0)] if price > 0 else []
    assert all(sum(demand.at(each) for demand in demands) > budget for each in below)


def test_prices_are_per_cost_unit_whatever_the_whole_unit():
    coarse, fine = Demand.of(problem(3)), Demand.of(problem(3, unit=0.25))
    np.testing.assert_allclose(fine.slope, 4 * coarse.slope)
    np.testing.assert_array_equal(fine.cost, coarse.cost / 4)
    assert fine.at(40.0) == coarse.at(10.0) / 4


def test_what_has_no_demand_is_refused():
    graph = random_dag(np.random.default_rng(0), 12)
    with pytest.raises(HierarchyError, match="forests"):
        Demand.of(hra.solve(graph, np.inf, gains=np.ones(graph.node_cost.size)).problem)
    demand = Demand.of(problem(1))
    for members, budget in (([], 5.0), ([demand], demand.base - 1), ([demand], float("nan"))):
        with pytest.raises(InvalidBudget):
            common_price(members, budget)


def test_what_fits_as_a_whole_costs_nothing():
    demand = Demand.of(problem(5))
    small = replace(demand, slope=demand.slope / 1e6)
    for budget in (demand.at(0.0), np.inf):
        assert common_price([small, demand], 2 * budget) == 0


def test_gains_that_no_bound_holds_for_have_no_demand():
    plain = problem(6)
    with pytest.raises(MetricError):
        Demand.of(replace(plain, gain=np.full_like(plain.gain, 1e308)))
