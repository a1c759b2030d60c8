"""`hra.solve`: the same as an allocator with a metric, from arrays alone."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import hra
from hra.errors import ArrayError, BudgetTooSmall, MetricError, RepairWarning
from hra.model.hierarchy import Hierarchy
from tests.helpers.allocators import allocate
from tests.helpers.hierarchies import KINDS, case

TREE = Hierarchy.tree([-1, 0, 0, 1, 1, 2, 2], np.ones(7), cost_unit="tokens")
ERROR = [10, 2, 2, 0.5, 0.5, 0, 0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("values", ["errors", "gains"])
def test_it_is_the_allocation_of_a_metric(kind: str, values: str):
    for seed in range(10):
        hierarchy, table, rng = case(kind, seed)
        table = table * 0.1 ** np.arange(table.size) if values == "errors" else table
        budget = hierarchy.base_cost + float(rng.integers(0, 20))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RepairWarning)
            if values == "errors":
                found = hra.solve(hierarchy, budget, errors=table, traversal=hra.Exact())
            else:
                found = hra.solve(hierarchy, budget, gains=table, traversal=hra.Exact())
            expected = allocate(hierarchy, table, budget, hra.Exact(), "error" if values == "errors" else "gain")
        assert (found.selected == expected.selected).all()
        assert (found.gain, found.cost, found.upper_bound) == (expected.gain, expected.cost, expected.upper_bound)
        assert hra.verify(found).ok


def test_what_is_there_stays_there():
    first = hra.solve(TREE, 3, errors=ERROR)
    again = hra.solve(TREE, 3, errors=ERROR, previous=first, pinned=[3], traversal=hra.Coherent(), unit="px2")
    assert again.churn == 2 and 3 in again.cut.tolist() and again.problem.unit == "px2"


def test_inherited_errors_are_used():
    pyramid = Hierarchy.tree([-1, 0, 0], [1, 1, 1], mode="child")
    shared = hra.solve(pyramid, 2, errors=[6, 1, 1], traversal=hra.Exact())
    stated = hra.solve(pyramid, 2, errors=[6, 1, 1], inherited=[6, 5, 1], traversal=hra.Exact())
    assert (shared.gain, stated.gain) == (4, 4)
    assert stated.problem.gain.tolist() == [4, 0]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, MetricError, "either errors or gains"),
        ({"errors": ERROR, "gains": ERROR}, MetricError, "either errors or gains"),
        ({"gains": ERROR, "inherited": ERROR}, MetricError, "need errors"),
        ({"errors": ERROR[:3]}, MetricError, "expected one number per node"),
        ({"errors": ERROR, "pinned": [9]}, ArrayError, "pinned"),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        hra.solve(TREE, 3, **arguments)


def test_a_budget_below_the_base_is_refused():
    with pytest.raises(BudgetTooSmall):
        hra.solve(TREE, 0.5, errors=ERROR)


def test_inherited_errors_that_would_not_count_are_refused():
    for hierarchy in (Hierarchy.tree([-1, 0, 0], [1, 1, 1]), Hierarchy.flat([1, 1, 1])):
        with pytest.raises(MetricError, match="one by one"):
            hra.solve(hierarchy, 2, errors=[6, 1, 1], inherited=[6, 5, 1])
    chain = Hierarchy.tree([-1, 0], [1, 1], mode="child")
    assert hra.solve(chain, 1, errors=[6, 1], inherited=[6, 6]).gain == 5


@pytest.mark.parametrize(
    "arguments",
    [
        {"hierarchy": "tree"},
        {"traversal": "hull"},
        {"traversal": hra.Hull},
        {"unit": 3},
        {"errors": ERROR[:3]},
        {"errors": [np.nan] * 7},
        {"errors": None, "gains": ERROR[:3]},
    ],
)
def test_messages_name_what_is_public(arguments: Any):
    with pytest.raises(hra.HraError) as caught:
        hra.solve(**{"hierarchy": TREE, "budget": 3, "errors": ERROR, **arguments})
    assert "_" not in str(caught.value)


def test_a_traversal_that_returns_something_else_is_named():
    class Wrong(hra.Traversal):
        def select(self, problem: hra.Problem) -> Any:
            return problem.gain > 0

    with pytest.raises(hra.HraError) as caught:
        hra.solve(TREE, 3, errors=ERROR, traversal=Wrong())
    assert caught.value.fix == "return hra.Solution(selected) from Wrong.select"


def test_errors_of_the_next_step_may_be_written_into_the_same_array():
    tree = hra.Hierarchy.tree([-1, 0, 0, 1, 1], [1, 1, 1, 1, 1])
    errors = np.array([8.0, 3.0, 2.0, 0.5, 0.5])
    first = hra.solve(tree, 2, errors=errors)
    errors[:] = 0
    assert (first.residual, first.max_error) == (5.0, 3.0)
