"""Batches over one hierarchy give what the traversal gives row by row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.allocating.exact_batch import exact_solutions
from hra.errors import ArrayError, BudgetTooSmall, InvalidBudget
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from hra.traversals.exact import Exact
from tests.helpers.hierarchies import KINDS, case
from tests.helpers.references import bound_of

seeds = st.integers(0, 2**32 - 1)


def problem_of_row(hierarchy: Hierarchy, gain: np.ndarray, budget: float) -> Problem:
    return Problem(hierarchy, gain, 0.0, float(budget), "gain", True, lambda: gain)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=seeds, max_states=st.sampled_from([1, 30, 2**22]))
def test_a_batch_is_its_rows(kind, seed, max_states):
    hierarchy, _, rng = case(kind, seed, 14)
    gain = rng.random((3, len(hierarchy)))
    budgets = hierarchy.base_cost + rng.integers(0, int(hierarchy.cost.sum()) + 2, 3)
    solutions = exact_solutions(hierarchy, gain, budgets, max_states=max_states)
    assert len(solutions) == 3
    for row, budget, solution in zip(gain, budgets, solutions, strict=True):
        problem = problem_of_row(hierarchy, row, budget)
        alone = Exact(max_states).solve(problem)
        assert hierarchy.is_valid(solution.selected)
        assert hierarchy.base_cost + hierarchy.cost[solution.selected].sum() <= budget
        if max_states == 2**22:
            assert (solution.selected == alone.selected).all()
            assert bound_of(problem, solution) == pytest.approx(bound_of(problem, alone), rel=1e-12)
        assert row[solution.selected].sum() >= row[alone.selected].sum() * (1 - 1e-12)


def pyramid() -> Hierarchy:
    parent = (np.arange(1 + 4 * 85) - 1) // 4
    parent[0] = -1
    return Hierarchy.tree(parent, np.ones(parent.size))


def test_one_budget_serves_all_rows():
    hierarchy = pyramid()
    gain = np.random.default_rng(0).random((5, len(hierarchy)))
    for solution in exact_solutions(hierarchy, gain, 100):
        assert hierarchy.cost[solution.selected].sum() == 99


def test_integers_and_single_precision_are_gains_too():
    hierarchy = pyramid()
    gain = np.random.default_rng(0).integers(0, 1000, (2, len(hierarchy)))
    expected = exact_solutions(hierarchy, gain.astype(float), 100)
    for same in (gain, gain.astype(np.float32), gain.tolist()):
        for one, other in zip(exact_solutions(hierarchy, same, 100), expected, strict=True):
            assert (one.selected == other.selected).all()


def test_no_rows():
    hierarchy = pyramid()
    assert exact_solutions(hierarchy, np.empty((0, len(hierarchy))), 100) == []


@pytest.mark.parametrize("shape", [(85,), (2, 84), (1, 2, 85)])
def test_gains_must_be_a_row_per_context(shape):
    with pytest.raises(ArrayError, match="shape"):
        exact_solutions(pyramid(), np.zeros(shape), 100)


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_bad_gains_are_named(bad):
    gain = np.ones((3, 85))
    gain[1, 7] = bad
    with pytest.raises(ArrayError) as error:
        exact_solutions(pyramid(), gain, 100)
    assert error.value.where == "gain[1, 7]"


def test_budgets_are_checked():
    gain = np.ones((3, 85))
    with pytest.raises(ArrayError, match="budgets"):
        exact_solutions(pyramid(), gain, [100, 100])
    with pytest.raises(BudgetTooSmall):
        exact_solutions(pyramid(), gain, [100, 0, 100])
    with pytest.raises(InvalidBudget):
        exact_solutions(pyramid(), gain, np.nan)
