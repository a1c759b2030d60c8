"""One problem: gains, capacity, what is refused; and budgets, of which numbers are taken."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.errors import BudgetTooSmall, HraError, InvalidBudget, MetricError
from hra.model.hierarchy import Hierarchy
from hra.model.problem import LARGEST_TOTAL, check_budget
from tests.helpers.allocators import allocate


class Given(hra.ErrorMetric):
    def evaluate(self, hierarchy, context):
        return context


FREE = Hierarchy.flat([1, 2, 3], cost_unit="tokens")
BASED = Hierarchy.tree([-1, 0, 0], [2, 2, 2], cost_unit="bytes")
TREE = hra.Hierarchy.tree([-1, 0, 0, 1, 1], [1, 1, 1, 2, 3])


def test_gains_are_what_errors_fall_by():
    problem = hra.Problem.of(TREE, Given(), [8.0, 5.0, 1.0, 0.5, 0.25], budget=3)
    assert problem.gain.tolist() == [2.0, 4.25]
    assert (problem.base_error, problem.least_error) == (8.0, 1.75)
    assert problem.cost.tolist() == [1.0, 4.0]
    assert problem.peak.tolist() == [8.0, 5.0]


@given(st.integers(1, 12))
def test_the_capacity_is_what_the_base_leaves_and_never_more_than_all(budget: int):
    problem = hra.Problem.of(TREE, Given(), [8.0, 5.0, 1.0, 0.5, 0.25], budget=budget)
    assert problem.capacity == min(budget - 1, 5)
    assert problem.is_unlimited == (budget >= 6)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -1.0])
def test_unusable_errors_name_their_node(bad: float):
    with pytest.raises(MetricError) as caught:
        hra.Problem.of(TREE, Given(), [8.0, 5.0, bad, 0.5, 0.25], budget=3)
    assert caught.value.where == "node 2"


def test_gains_that_cannot_be_added_up_are_refused():
    flat = hra.Hierarchy.flat([1, 1])
    problem = hra.Problem(flat, np.full(2, LARGEST_TOTAL), 0.0, 1.0, "error", True, lambda: np.zeros(2))
    with pytest.raises(MetricError, match="too large"):
        problem.check()
    with pytest.raises(MetricError, match="2 refinements"):
        hra.Problem(flat, np.zeros(3), 0.0, 1.0, "error", True, lambda: np.zeros(2)).check()


@pytest.mark.parametrize(
    "budget",
    [
        True,
        False,
        np.True_,
        float("nan"),
        np.float32("nan"),
        -1,
        -0.5,
        -float("inf"),
        "5",
        None,
        [5],
        5j,
        np.array([5]),
    ],
    ids=repr,
)
def test_what_is_no_number_from_zero_is_refused(budget):
    with pytest.raises(InvalidBudget, match="budget") as caught:
        check_budget(budget, FREE)
    assert caught.value.where == "budget"
    assert caught.value.fix


@pytest.mark.parametrize(
    "budget",
    [0, -0.0, 5, 3.7, np.int64(5), np.uint8(5), np.float32(2.5), float("inf"), 2**60, Decimal(5), Fraction(5, 2)],
)
def test_numbers_from_zero_are_taken(budget):
    value = check_budget(budget, FREE)
    assert type(value) is float
    assert value == budget


def test_an_integer_too_large_for_a_float_is_no_raw_error():
    try:
        assert check_budget(10**400, FREE) == float("inf")
    except HraError as error:
        assert error.code == "invalid-budget"


def test_less_than_the_base_is_refused_with_the_minimum():
    with pytest.raises(BudgetTooSmall, match="costs 2 bytes") as caught:
        check_budget(1.99, BASED)
    assert "at least 2 bytes" in caught.value.fix
    assert check_budget(2, BASED) == 2


def test_the_minimum_that_is_named_is_enough():
    hierarchy = Hierarchy.tree([-1, 0], [1234564, 1234564])
    with pytest.raises(BudgetTooSmall) as caught:
        check_budget(1, hierarchy)
    named = caught.value.fix.removeprefix("use at least ").removesuffix(" units")
    assert check_budget(float(named.replace(",", "")), hierarchy) >= hierarchy.base_cost


def test_fractions_buy_what_fits_below_them():
    allocation = allocate(FREE, [1, 1, 1], 3.7, kind="gain")
    assert (allocation.cost, allocation.budget) == (3, 3.7)


def test_a_long_argument_stays_on_one_line():
    with pytest.raises(InvalidBudget) as caught:
        check_budget(np.arange(4000).reshape(2, -1), FREE)
    assert len(str(caught.value).splitlines()) == 3


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy tells of the sum
@pytest.mark.parametrize("mode", ["add", "replace"])
def test_errors_that_cannot_be_added_up_are_refused(mode: Any):
    """The residual was NaN, and the best possible."""
    forest = hra.Hierarchy.tree([-1, -1, 0], [1, 1, 1], mode=mode)
    with pytest.raises(MetricError, match="too large to compute with"):
        hra.solve(forest, 3, errors=[1e308, 1e308, 1e308])
