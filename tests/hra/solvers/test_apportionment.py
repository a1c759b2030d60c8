from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.errors import ArrayError, HraError
from hra.model.hierarchy import Hierarchy
from hra.solvers.apportionment import largest_remainder, remainder_to_largest, tiers
from hra.traversals.apportion import Apportion
from tests.helpers.allocators import allocate

IMPORTANCES = st.lists(st.integers(0, 50) | st.floats(0, 1e300), min_size=1, max_size=12)


def plain_hamilton(importance: list[int], total: int, minimum: int) -> list[int]:
    """Hamilton's method without capacities, in exact fractions."""
    pool = total - minimum * len(importance)
    exact = [Fraction(value) for value in importance]
    quota = [pool * value / sum(exact) for value in exact]
    counts = [minimum + int(q) for q in quota]
    order = sorted(range(len(exact)), key=lambda i: (int(quota[i]) - quota[i], -exact[i], i))
    for i in order[: total - sum(counts)]:
        counts[i] += 1
    return counts


@pytest.mark.parametrize("rule", [largest_remainder, remainder_to_largest])
@given(importance=IMPORTANCES, total=st.integers(0, 400), minimum=st.integers(0, 9), data=st.data())
def test_everyone_gets_the_minimum_if_it_can_be_paid(
    rule: Any, importance: list[float], total: int, minimum: int, data: Any
):
    size = len(importance)
    capacity = np.array(data.draw(st.lists(st.integers(0, 60), min_size=size, max_size=size)))
    counts = rule(importance, total, capacity, minimum=minimum)
    assert counts.sum() == min(total, capacity.sum())
    if np.minimum(capacity, minimum).sum() <= total:
        assert (counts >= np.minimum(capacity, minimum)).all()
    else:
        assert (counts <= np.minimum(capacity, minimum)).all()


@given(
    importance=st.lists(st.integers(0, 1000), min_size=1, max_size=12).filter(any),
    minimum=st.integers(0, 3),
    pool=st.integers(0, 500),
)
def test_largest_remainder_is_hamiltons_method(importance: list[int], minimum: int, pool: int):
    total = pool + minimum * len(importance)
    assert largest_remainder(importance, total, minimum=minimum).tolist() == plain_hamilton(importance, total, minimum)


def test_worked_example_of_stratified_sampling():
    importance = [850, 120, 80, 50, 320, 180, 140, 90, 95, 110, 100, 70, 60, 75, 85, 55]
    expected = [96, 13, 9, 6, 34, 19, 15, 10, 10, 12, 11, 8, 7, 8, 9, 6]
    assert remainder_to_largest(importance, 273).tolist() == expected


def test_what_does_not_fit_goes_on():
    assert remainder_to_largest([6, 3, 1], 10, [2, 4, 9], minimum=0).tolist() == [2, 4, 4]
    assert largest_remainder([6, 3, 1], 10, [2, 9, 9], minimum=0).tolist() == [2, 6, 2]
    assert largest_remainder([1, 3], 2, minimum=0).tolist() == [0, 2]  # of equal remainders the more important
    assert largest_remainder([0, 0, 0], 7).tolist() == [3, 2, 2]
    assert largest_remainder([1, 0, 0], 8, [2, 5, 5], minimum=0).tolist() == [2, 3, 3]


def test_too_small_a_total_serves_the_most_important():
    assert remainder_to_largest([1, 3, 2], 2).tolist() == [0, 1, 1]
    assert largest_remainder([1, 3, 2], 4, minimum=2).tolist() == [1, 2, 1]


def test_tiers_count_and_prune_and_refine():
    importance = np.arange(10, 0, -1)
    exact = [15, 15, 5, 5, 5, 1, 1, 1, 1, 1]
    assert tiers(importance, 50).tolist() == exact
    assert tiers(importance, 44).tolist() == [15, 15, 5, 5, 4, 0, 0, 0, 0, 0]
    assert tiers(importance, 53).tolist() == [17, 16, *exact[2:]]
    assert tiers(importance, 60, [16] * 10).tolist() == [16, 16, 8, 8, 7, 1, 1, 1, 1, 1]
    assert tiers(importance[::-1], 50).tolist() == exact[::-1]
    assert tiers(importance, 26, shares=(0.1, 0.2), counts=(9, 5, 1)).tolist() == [9, 5, 5, 1, 1, 1, 1, 1, 1, 1]
    assert tiers([1.0], 3).tolist() == [3]
    assert tiers(importance, 26, shares=(0.0, 0.2), counts=(9, 5, 1)).tolist() == [9, 9, *[1] * 8]
    assert tiers([3, 2, 1], 8, shares=(), counts=(2,)).tolist() == [3, 3, 2]


def test_bad_arguments_are_typed_errors():
    for total in (-1, 2.5, True, 2**31, "3", float("nan")):
        with pytest.raises(HraError, match="total"):
            largest_remainder([1, 2], total)  # pyright: ignore[reportArgumentType]
    for importance in ([-1.0, 2.0], [np.nan], [np.inf], [[1.0]]):
        with pytest.raises(ArrayError):
            remainder_to_largest(importance, 3)
    for capacity in ([1], [1, -1], [1.5, 2]):
        with pytest.raises(ArrayError):
            tiers([1, 2], 3, capacity)
    with pytest.raises(ArrayError, match="at most 1"):
        tiers([1, 2], 3, shares=(0.8, 0.3))
    with pytest.raises(HraError, match="need 3 counts"):
        tiers([1, 2], 3, counts=(5, 1))
    with pytest.raises(HraError, match="minimum"):
        largest_remainder([1, 2], 3, minimum=-1)


def test_the_importance_can_be_an_attribute():
    attributes = {"stratum": [0, 0, 0, 0, 1, 1], "weight": [1.0, 1.0, 1.0, 1.0, 1.5, 1.5]}
    hierarchy = Hierarchy.flat(np.ones(6), attributes=attributes)
    gain = [6.0, 9.0, 8.0, 7.0, 1.0, 3.0]
    assert allocate(hierarchy, gain, 3, Apportion(), kind="gain").cut.tolist() == [1, 2, 5]
    assert allocate(hierarchy, gain, 3, Apportion(importance="weight"), kind="gain").cut.tolist() == [1, 4, 5]
    few = Apportion(partial(tiers, shares=(0.5,), counts=(1, 1)))
    assert allocate(hierarchy, gain, 2, few, kind="gain").cut.tolist() == [1, 5]
