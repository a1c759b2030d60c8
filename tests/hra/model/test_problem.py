from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.errors import MetricError
from hra.model.problem import LARGEST_TOTAL


class Given(hra.ErrorMetric):
    def evaluate(self, hierarchy, context):
        return context


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
