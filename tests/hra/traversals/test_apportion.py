"""Apportionment: exact totals, the worked example of stratified sampling, and the traversal that deals a budget out."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.errors import ArrayError, HierarchyError, MetricError
from hra.model.hierarchy import Hierarchy
from hra.solvers.apportionment import largest_remainder, remainder_to_largest, tiers
from hra.traversals.apportion import Apportion
from tests.helpers.allocators import allocate

RULES = (largest_remainder, remainder_to_largest, tiers)
EVERY_RULE = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
IMPORTANCES = st.lists(st.integers(0, 50) | st.floats(0, 1e300), min_size=1, max_size=12)


@EVERY_RULE
@given(importance=IMPORTANCES, total=st.integers(0, 400), data=st.data())
def test_totals_are_exact_within_the_capacities(rule: Any, importance: list[float], total: int, data: Any):
    size = len(importance)
    capacity = data.draw(st.none() | st.lists(st.integers(0, 60), min_size=size, max_size=size))
    counts = rule(importance, total, capacity)
    assert counts.dtype == np.int64 and (counts >= 0).all()
    assert counts.sum() == (total if capacity is None else min(total, sum(capacity)))
    assert capacity is None or (counts <= capacity).all()


@EVERY_RULE
@given(importance=st.lists(st.integers(0, 50), min_size=1, max_size=12), total=st.integers(0, 400))
def test_the_more_important_never_gets_less(rule: Any, importance: list[int], total: int):
    counts, order = rule(importance, total), np.argsort(importance, kind="stable")
    assert all(counts[a] <= counts[b] for a in order for b in order if importance[a] < importance[b])


@EVERY_RULE
def test_nobody_gets_nothing(rule: Any):
    assert rule([], 5).tolist() == []


LABELLED = Hierarchy.flat(
    [1] * 4, attributes={"stratum": [0, 0, 1, 1], "nan": [1.0, np.nan, 2.0, 3.0], "text": np.array(list("abcd"))}
)


def strata(seed: int) -> tuple[Hierarchy, np.ndarray, np.ndarray]:
    """A flat hierarchy of up to 40 nodes of cost 2 in up to 5 strata, labels and gains (often equal)."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 40))
    label, gain = 7 * rng.integers(0, 5, size) - 3, rng.integers(0, 6, size).astype(float)
    return Hierarchy.flat(np.full(size, 2), attributes={"stratum": label}), label, gain


@EVERY_RULE
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(0, 50))
def test_the_best_of_every_stratum_are_taken(rule: Any, seed: int, count: int):
    hierarchy, label, gain = strata(seed)
    allocation = allocate(hierarchy, gain, 2 * count + 1, Apportion(rule), kind="gain")
    assert allocation.cost == 2 * min(count, gain.size)
    names, members = np.unique(label, return_counts=True)
    expected = rule([gain[label == name].sum() for name in names], count, members)
    taken = np.zeros(gain.size, bool)
    taken[allocation.cut] = True
    assert [int(taken[label == name].sum()) for name in names] == expected.tolist()
    for name in names:
        inside = label == name
        assert gain[inside & taken].min(initial=np.inf) >= gain[inside & ~taken].max(initial=-np.inf)
    assert allocation.upper_bound >= allocation.gain


def test_hierarchies_that_cannot_be_apportioned():
    gain = [1.0, 1.0]
    for hierarchy in (
        Hierarchy.flat([1, 2], attributes={"stratum": [0, 0]}),
        Hierarchy.flat([0, 0], attributes={"stratum": [0, 0]}),
        Hierarchy.dag([1, 1], [(0, 1)], attributes={"stratum": [0, 0]}),
    ):
        with pytest.raises(HierarchyError, match="independent nodes of one cost"):
            allocate(hierarchy, gain, 2, Apportion(), kind="gain")
    with pytest.raises(MetricError, match="stratum"):
        allocate(Hierarchy.flat([1, 1]), gain, 2, Apportion(), kind="gain")
    with pytest.raises(ArrayError, match="one value per node"):
        allocate(Hierarchy.flat([1, 1], attributes={"stratum": [[0], [0]]}), gain, 2, Apportion(), kind="gain")


@pytest.mark.parametrize("counts", [[3], [-1, 1], [2, 1], [1]])
def test_a_rule_whose_counts_do_not_fit_is_refused(counts: list[int]):
    hierarchy = Hierarchy.flat([1, 1, 1], attributes={"stratum": [0, 0, 1]})
    rule: Any = lambda importance, total, capacity: counts  # noqa: E731
    with pytest.raises(ArrayError, match="the rule returned"):
        allocate(hierarchy, [1.0, 1.0, 1.0], 2, Apportion(rule), kind="gain")


def test_an_empty_hierarchy():
    hierarchy = Hierarchy.flat(np.zeros(0), attributes={"stratum": np.zeros(0, int)})
    assert allocate(hierarchy, np.zeros(0), 3, Apportion(), kind="gain").cut.tolist() == []


@given(seed=st.integers(0, 2**32 - 1), share=st.floats(0, 1))
def test_counts_are_met_to_the_unit_beside_what_is_pinned(seed: int, share: float):
    hierarchy, _, gain = strata(seed)
    pins = np.random.default_rng(seed).choice(gain.size, gain.size // 2, replace=False)
    budget = 2.0 * pins.size + np.floor(share * 2 * gain.size)
    allocation = hra.solve(hierarchy, budget, gains=gain, pinned=pins, traversal=Apportion())
    assert set(pins.tolist()) <= set(allocation.cut.tolist())
    assert allocation.cost == min(budget // 2, gain.size) * 2


@pytest.mark.parametrize("counts", [[1.5, 0.5], [np.nan, 1.0], "ab", None, [3, 0], [-1, 2], [1]])
def test_a_rule_that_returns_other_than_fitting_counts_is_named(counts: Any):
    with pytest.raises(ArrayError):
        hra.solve(LABELLED, 2, gains=[1, 2, 3, 4], traversal=Apportion(lambda *given: counts))


@pytest.mark.parametrize("name", ["nan", "text"])
def test_importances_are_finite_numbers(name: str):
    with warnings.catch_warnings(), pytest.raises(ArrayError, match=name):
        warnings.simplefilter("error")
        hra.solve(LABELLED, 2, gains=[1, 2, 3, 4], traversal=Apportion(importance=name))


def test_tiers_take_lists_of_numbers():
    wrong: tuple[dict[str, Any], ...] = (
        {"shares": 0.5},
        {"counts": 3},
        {"counts": None},
        {"shares": "ab"},
        {"counts": (1, 2, -1)},
    )
    for options in wrong:
        with pytest.raises(ArrayError):
            tiers([1, 2], 3, **options)
