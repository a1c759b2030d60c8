"""Costs as whole numbers of one unit, and what budgets count as."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.allocating import verification
from hra.model.hierarchy import Hierarchy
from hra.model.units import Units, rescale, rounded_up_sum
from tests.helpers.instances import COSTS
from tests.helpers.rational import reader


@st.composite
def costs(draw):
    kind = draw(st.sampled_from(sorted(COSTS)))
    return COSTS[kind](draw, draw(st.integers(1, 8)))


@given(costs(), st.floats(0, 1e15))
def test_units_the_check_and_the_references_count_alike(cost, number):
    units = Units.of(cost)
    for read in (reader(cost), verification._reader(cost.tolist())):
        assert [units.exactly(c) for c in cost.tolist()] == [read(c) for c in cost.tolist()]
        assert units.exactly(number) == read(number)


@given(costs())
def test_costs_are_whole_numbers_of_units_or_lie_between_two(cost):
    units = Units.of(cost)
    assert (units.low == np.floor(units.low)).all()
    assert units.low.sum() <= 2**53
    for value, low, high in zip(cost.tolist(), units.low.tolist(), units.high.tolist(), strict=True):
        exact = units.exactly(value) / units.size
        assert Fraction(low) <= exact <= Fraction(high)
        assert not units.exact or low == high
        assert high <= low + 1


@given(costs(), st.floats(0, 1e15))
def test_budgets_are_rounded_to_what_sums_can_reach(cost, number):
    units = Units.of(cost)
    value = min(units.exactly(number) / units.size, Fraction(2**54))
    low, high = Fraction(units.floor(number)), Fraction(units.ceil(number))
    assert low <= value < low + 1
    assert high - 1 < value <= high
    assert units.floor(math.inf) == units.ceil(math.inf) == math.inf


@given(costs(), st.data())
def test_what_is_left_is_never_rounded_up(cost, data):
    units = Units.of(cost)
    paid = data.draw(st.lists(st.sampled_from(cost.tolist()), max_size=4))
    total = sum(map(units.exactly, paid), Fraction(0))
    budget = float(np.nextafter(float(total), np.inf)) + data.draw(st.floats(0, 10))
    assert units.exactly(units.less(budget, paid)) <= units.exactly(budget) - total
    assert units.less(math.inf, paid) == math.inf


@given(costs(), st.integers(0, 255))
def test_the_cost_of_a_set_counts_as_its_sum_or_a_little_more(cost, number):
    hierarchy = Hierarchy.flat(cost)
    selected = np.array([bool(number >> i & 1) for i in range(cost.size)])
    read = reader(cost)
    exact = sum((read(c) for c in cost[selected].tolist()), Fraction(0))
    stated = hierarchy.cost_of(selected)
    assert read(stated) >= exact
    assert stated == 0 or read(float(np.nextafter(stated, 0.0))) < exact
    assert math.copysign(1.0, stated) == 1.0


@pytest.mark.parametrize(
    ("cost", "size", "exact"),
    [
        ([1.0, 2.0], Fraction(1), True),
        ([0.1, 0.25], Fraction(1, 100), True),
        ([0.5, 2.0**-40], Fraction(1, 2**40), True),
        ([1 / 3, 0.0, 1 / 3], Fraction(1 / 3), True),
        ([1 / 3, 1e-3], Fraction(2) ** -53, False),
        ([5e-324, 5e-324], Fraction(2) ** -1074, True),
    ],
)
def test_the_unit_of_costs(cost, size, exact):
    units = Units.of(np.array(cost))
    assert (units.size, units.exact) == (size, exact)


@given(st.lists(st.floats(0, 1e300), max_size=8), st.integers(0, 255))
def test_sums_are_rounded_up_to_the_next_double(values, number):
    selected = np.array([bool(number >> i & 1) for i in range(len(values))], np.bool_)
    array = np.array(values, np.float64)
    exact = sum(map(Fraction, array[selected].tolist()), Fraction(0))
    found = rounded_up_sum(array, selected)
    assert Fraction(found) >= exact
    assert found == 0 or Fraction(float(np.nextafter(found, -np.inf))) < exact


def test_prices_per_another_unit():
    assert rescale(3.0, Fraction(1, 10), Fraction(1)) == 30.0
    assert rescale(0.0, Fraction(1), Fraction(2) ** -1074) == 0.0
    assert rescale(1.0, Fraction(2) ** -1074, Fraction(1)) == np.finfo(float).max
    assert rescale(math.inf, Fraction(1), Fraction(2)) == math.inf


def _best_in_tenths(tenths: np.ndarray, gain: np.ndarray, budget: int) -> float:
    best = np.zeros(budget + 1)
    for cost, value in zip(tenths.tolist(), gain.tolist(), strict=True):
        best[cost:] = np.maximum(best[cost:], best[: budget + 1 - cost] + value)
    return float(best[budget])


def test_products_that_are_no_short_decimals_count_as_the_doubles_that_they_are():
    cost = np.arange(1, 10) * 0.1
    assert repr(float(cost[2])) == "0.30000000000000004"
    together = np.array([cost[2], cost[5], cost[4]])  # 0.3, 0.6 and 0.5 to a human
    assert sum(map(Fraction, together.tolist())) > Fraction(1.4)
    assert hra.solve(hra.Hierarchy.flat(together), 1.4, gains=[1.0, 1.0, 1.0], traversal=hra.Exact()).gain == 2.0
    rounded = hra.solve(hra.Hierarchy.flat(np.round(together, 12)), 1.4, gains=[1.0, 1.0, 1.0], traversal=hra.Exact())
    assert rounded.gain == 3.0 and rounded.cost == 1.4


def _lost_by_products(seed: int) -> bool:
    """Whether unrounded products of tenths reach less than the optimum in tenths; rounded ones reach it."""
    rng = np.random.default_rng(seed)
    tenths, gain = rng.integers(1, 10, 9), rng.random(9)
    best = _best_in_tenths(tenths, gain, 14)
    raw = tenths * 0.1
    exact, plain = (
        hra.solve(hra.Hierarchy.flat(cost), 1.4, gains=gain, traversal=hra.Exact()) for cost in (np.round(raw, 12), raw)
    )
    assert exact.gain == pytest.approx(best) and exact.cost <= 1.4
    spent = sum(map(Fraction, raw[plain.selected].tolist()), Fraction(0))
    # All of them short decimals by chance: then tenths are what they count as.
    assert spent <= Fraction(1.4) or np.array_equal(raw, np.round(raw, 12))
    assert plain.gain <= best * (1 + 1e-12)
    assert hra.verify(plain).ok and hra.verify(exact).ok
    return plain.gain < best * (1 - 1e-12)


@pytest.mark.paths
@given(seed=st.integers(0, 2**32 - 1))
def test_rounded_products_reach_the_optimum_in_tenths_and_raw_ones_keep_the_budget(seed: int):
    _lost_by_products(seed)


def test_some_products_lose_what_the_page_on_concepts_warns_of():
    assert any(_lost_by_products(seed) for seed in range(50))
