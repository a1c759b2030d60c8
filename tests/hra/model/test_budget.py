"""Budgets: which numbers are taken."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from hra.errors import BudgetTooSmall, HraError, InvalidBudget
from hra.model.budget import check_budget
from hra.model.hierarchy import Hierarchy
from tests.helpers.allocators import allocate

FREE = Hierarchy.flat([1, 2, 3], cost_unit="tokens")
BASED = Hierarchy.tree([-1, 0, 0], [2, 2, 2], cost_unit="bytes")


@pytest.mark.parametrize(
    "budget",
    [True, False, np.True_, float("nan"), np.float32("nan"), -1, -0.5, -float("inf"), "5", None, [5], 5j, np.array(5)],
    ids=repr,
)
def test_what_is_no_number_from_zero_is_refused(budget):
    with pytest.raises(InvalidBudget, match="budget") as caught:
        check_budget(budget, FREE)
    assert caught.value.where == "budget"
    assert caught.value.fix


@pytest.mark.parametrize("budget", [Decimal(5), Fraction(5, 2)], ids=repr)
def test_other_number_types_are_refused_or_exact(budget):
    with pytest.raises(InvalidBudget):
        check_budget(budget, FREE)


@pytest.mark.parametrize("budget", [0, -0.0, 5, 3.7, np.int64(5), np.uint8(5), np.float32(2.5), float("inf"), 2**60])
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
