"""Metrics: combinations, and what happens to values that cannot be used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hra.errors import MetricError, RepairWarning, UnitMismatch
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.model.problem import Problem
from tests.helpers.allocators import Table, allocate, problem_of

TREE = Hierarchy.tree([-1, 0, 0], [1, 1, 1])
ONE, TWO = np.array([6.0, 1, 2]), np.array([3.0, 2, 1])


def evaluated(metric: Any) -> list[float]:
    return metric.evaluate(TREE, None).tolist()


def test_a_sum_adds_values_inherited_values_and_peaks():
    metric = Table(ONE, inherit=ONE + 1, peaks=ONE * 2) + Table(TWO, inherit=TWO, peaks=TWO)
    assert evaluated(metric) == [9, 3, 3]
    assert metric.inherited(TREE, None).tolist() == [10, 4, 4]  # pyright: ignore[reportOptionalMemberAccess]
    assert metric.peak(TREE, None).tolist() == [15, 4, 5]
    assert (metric.unit, metric.kind, metric.additive) == ("error", "error", True)


def test_a_maximum_takes_the_larger_value_of_each_node():
    assert evaluated(Table(ONE).maximum(Table(TWO))) == [6, 2, 2]
    assert Table(ONE, peaks=TWO).maximum(Table(TWO)).peak(TREE, None).tolist() == TWO.tolist()


def test_a_number_scales_everything_from_either_side():
    for metric in (Table(ONE, inherit=TWO, peaks=TWO) * 0.5, 0.5 * Table(ONE, inherit=TWO, peaks=TWO)):
        assert evaluated(metric) == [3, 0.5, 1]
        assert metric.inherited(TREE, None).tolist() == [1.5, 1, 0.5]  # pyright: ignore[reportOptionalMemberAccess]
        assert metric.peak(TREE, None).tolist() == [1.5, 1, 0.5]
        assert metric.unit == "error"
    assert (Table(ONE) * 2).inherited(TREE, None) is None


@pytest.mark.parametrize("number", [np.float64(2), np.float32(2), np.int64(2), 2])
def test_numbers_of_numpy_scale_like_plain_ones(number):
    assert evaluated(Table(ONE) * number) == evaluated(number * Table(ONE)) == [12, 2, 4]


def test_a_weight_multiplies_without_a_unit():
    weighted = Table(ONE, unit="px2", inherit=ONE) * Table([0.5, 1, 2], unit="weight")
    assert weighted.unit == "px2"
    assert evaluated(weighted) == [3, 1, 4]
    assert weighted.inherited(TREE, None).tolist() == [3, 1, 4]  # pyright: ignore[reportOptionalMemberAccess]
    assert (Table(unit="weight") * Table(unit="weight")).unit == "weight"
    assert (Table(unit="px") * Table(unit="s")).unit == "px s"


def test_inherited_peaks_combine_like_inherited_values():
    part, other = Table(ONE, inherit_peaks=ONE), Table(TWO, peaks=TWO * 2, inherit_peaks=TWO)
    plain = Table(TWO, peaks=TWO * 2)
    expected = [
        (part + other, ONE + TWO),
        (part * 3, ONE * 3),
        (part.maximum(other), np.maximum(ONE, TWO)),
        (part * other, ONE * TWO),
        (part * plain, ONE * TWO * 2),
    ]
    for metric, values in expected:
        assert metric.inherited_peak(TREE, None).tolist() == values.tolist()  # pyright: ignore[reportOptionalMemberAccess]
    assert (part + plain).inherited_peak(TREE, None) is None
    assert (plain * plain).inherited_peak(TREE, None) is None
    assert (2 * plain).inherited_peak(TREE, None) is None


def test_a_sum_with_a_part_that_inherits_nothing_inherits_nothing():
    assert (Table(ONE, inherit=ONE) + Table(TWO)).inherited(TREE, None) is None
    assert (Table(ONE) * Table(TWO)).inherited(TREE, None) is None


def test_integers_do_not_overflow_in_a_combination():
    metric = Table(np.full(3, 200, np.uint8)) + Table(np.full(3, 100, np.uint8))
    assert evaluated(metric) == [300, 300, 300]
    assert evaluated(Table(np.full(3, 200, np.uint8)) * Table(np.full(3, 100, np.uint8))) == [20000] * 3


def test_combinations_are_additive_only_if_both_parts_are():
    parts = Table(ONE), Table(TWO, additive=False)
    for metric in (parts[0] + parts[1], parts[1] * parts[0], parts[0].maximum(parts[1]), 2 * parts[1]):
        assert not metric.additive
    assert allocate(TREE, ONE, 3, additive=False).status == "heuristic"


@pytest.mark.parametrize("combine", [lambda a, b: a + b, lambda a, b: a.maximum(b)])
def test_different_units_are_never_added_or_compared(combine):
    with pytest.raises(UnitMismatch, match="equal units") as caught:
        combine(Table(unit="px"), Table(unit="m"))
    assert "'px' and 'm'" in caught.value.where


@pytest.mark.parametrize("combine", [lambda a, b: a + b, lambda a, b: a * b, lambda a, b: a.maximum(b)])
def test_errors_and_gains_are_never_combined(combine):
    with pytest.raises(MetricError, match="errors and one of gains"):
        combine(Table(kind="error"), Table(kind="gain"))
    with pytest.raises(MetricError, match="metric"):
        _ = combine(Table(), "2")


@pytest.mark.parametrize("weight", [-1, float("nan"), float("inf")])
def test_a_weight_is_finite_and_not_negative(weight):
    with pytest.raises(MetricError, match="weight"):
        _ = Table(ONE) * weight


def test_metrics_of_different_lengths_cannot_be_combined():
    with pytest.raises(MetricError, match="shapes"):
        (Table(ONE) + Table(np.ones(2))).evaluate(TREE, None)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0])
@pytest.mark.parametrize("field", ["evaluate", "inherit", "peaks"])
def test_a_value_that_is_no_error_is_refused_with_its_node(value, field):
    hierarchy = Hierarchy.tree([-1, 0, 0], [1, 1, 1], mode="add")
    bad = np.array([1.0, 1, value])
    tables = {"evaluate": Table(bad), "inherit": Table(ONE, inherit=bad), "peaks": Table(ONE, peaks=bad)}
    facts = {"inherit": tables[field].inherit, "peaks": tables[field].peaks}
    with pytest.raises(MetricError, match=r"(?s)Table returned .*node 2"):
        _ = problem_of(hierarchy, tables[field].values, **facts).peak


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_gain_that_is_not_finite_is_refused_with_its_node(value):
    with pytest.raises(MetricError, match=r"(?s)returned .*node 1"):
        problem_of(Hierarchy.flat([1, 1]), [0, value], "gain")


@pytest.mark.parametrize(
    "values", [np.ones(2), np.ones((3, 1)), 5.0, np.ones(3, complex), np.array(["1", "2", "3"])], ids=repr
)
def test_anything_but_one_number_per_node_is_refused(values):
    with pytest.raises(MetricError, match=r"Table returned .* expected one number per node \(3\)"):
        problem_of(TREE, values)


def test_negative_gains_count_as_zero_with_a_warning():
    hierarchy = Hierarchy.flat([1, 1, 1])
    with pytest.warns(RepairWarning, match="2 negative gains"):
        allocation = allocate(hierarchy, [-1, 3, -2], 3, kind="gain")
    assert allocation.problem.gain.tolist() == [0, 3, 0]
    assert allocation.cut.tolist() == [1]


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, np.uint8, bool])
def test_values_of_any_numeric_type_are_taken(dtype):
    assert problem_of(Hierarchy.flat([1, 1]), np.array([0, 1], dtype), "gain").gain.tolist() == [0, 1]


@pytest.mark.parametrize("values", [None, [[1], [1, 2], 3], {"a": 1}, np.ma.masked_array(ONE, ONE < 2)], ids=repr)
def test_what_is_no_array_is_refused_by_the_name_of_the_metric(values):
    class Forgetful(ErrorMetric):
        def evaluate(self, hierarchy: Hierarchy, context: Any) -> Any:
            return values

    metric = Forgetful()
    for one in (metric, metric * 2.0, metric + metric):
        with pytest.raises(MetricError, match=r"Forgetful returned a .*, expected one number per node"):
            Problem.of(TREE, one, None, 3.0)
