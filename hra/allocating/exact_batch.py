"""Exact answers for many contexts over one hierarchy, without a step of Python between them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hra.compiling import njit
from hra.errors import ArrayError
from hra.model.arrays import to_numpy
from hra.model.hierarchy import Hierarchy
from hra.model.problem import LARGEST_TOTAL, Problem, check_budget
from hra.model.sets import attainable, first_unusable
from hra.model.solution import Solution
from hra.solvers.forest.pava import hull_slopes
from hra.solvers.search.deepening import improve
from hra.solvers.search.pareto import new_states
from hra.solvers.selection import compiled_threshold
from hra.traversals.exact import MAX_STATES, Exact


class Forest(NamedTuple):
    """What searches read of a forest: fields of `hra.model.hierarchy.Hierarchy`.

    first_child : int32 [R + 1]; order : its ``predecessors``; cost : its ``unit_cost`` [R]; slope_cost : float64 [R].
    """

    first_child: np.ndarray
    order: tuple[np.ndarray, np.ndarray]
    cost: np.ndarray
    slope_cost: np.ndarray


def exact_solutions(hierarchy: Hierarchy, gain: Any, budget: Any, *, max_states: int = MAX_STATES) -> list[Solution]:
    """The answers of `Exact` for a batch of gains.

    Parameters
    ----------
    gain : [B, R], one row of finite gains >= 0 per context.
    budget : one number, or [B], in the hierarchy's cost unit.
    max_states : see `Exact`.

    Returns
    -------
    One `Solution` per row. What the search cannot prove is what `Exact` answers to the row alone.

    Raises
    ------
    ArrayError : gains of another shape, negative, not finite, or too large to add up; budgets of another shape.
    InvalidBudget, BudgetTooSmall : see `check_budget`.
    """
    rows = _rows(gain, len(hierarchy))
    budgets = row_budgets(budget, len(rows), hierarchy)
    if hierarchy.parent is None or hierarchy.shrinks or not hierarchy.units.exact:
        return [_alone(hierarchy, *given, max_states) for given in zip(rows, budgets, strict=True)]
    capacity = np.array([hierarchy.capacity(limit) for limit in budgets], np.float64)
    selected, price = np.empty(rows.shape, np.bool_), np.empty(len(rows))
    shortfall, proven = np.empty(len(rows)), np.empty(len(rows), np.bool_)
    forest = Forest(hierarchy.first_child, hierarchy.predecessors, hierarchy.unit_cost, hierarchy.slope_cost)
    _solve_rows(forest, rows, capacity, new_states(max_states), (selected, price, shortfall, proven))
    return [
        Solution(selected[i], float(price[i]), shortfall=float(shortfall[i]))
        if proven[i]
        else _alone(hierarchy, rows[i], budgets[i], max_states)
        for i in range(len(rows))
    ]


def _alone(hierarchy: Hierarchy, gain: np.ndarray, budget: float, max_states: int) -> Solution:
    """The answer to one row; errors do not matter, so full detail leaves none."""
    problem = Problem(hierarchy, gain, 0.0, budget, "gain", True, lambda: gain)
    return Exact(max_states).solve(problem)


@njit(cache=True, nogil=True)
def _solve_rows(forest, gain, capacity, states, answer):
    """Search from the hull point of every row; filling it first would take longer than it saves."""
    selected, price, shortfall, proven = answer
    share = np.ones(forest.order[1].size)
    for i in range(gain.shape[0]):
        price[i], shortfall[i], proven[i] = solve_forest(forest, share, gain[i], capacity[i], states, selected[i])


@njit(cache=True, nogil=True)
def solve_forest(forest, share, gain, capacity, states, selected):
    """Fill ``selected`` [R] with the best set of a forest; returns its price, its shortfall, and whether it is proven.

    Parameters
    ----------
    forest : `Forest`; share : ones [E].
    gain : float64 [R], finite and >= 0; capacity : see `Hierarchy.capacity`.
    states : memory of the search, see `new_states`.
    """
    slope = hull_slopes(forest.first_child, gain, forest.slope_cost)
    price = max(compiled_threshold(slope, forest.cost, capacity), 0.0)
    for r in range(gain.size):
        selected[r] = slope[r] > price
    limit, gain = states.cost.size, attainable(*forest.order, gain, forest.cost, capacity)
    shortfall, proven = improve(forest.order, share, gain, forest.cost, capacity, price, limit, states, selected)
    return price, shortfall, proven


def _rows(gain: Any, size: int) -> np.ndarray:
    """The gains as float64 [B, R], checked."""
    array = to_numpy(gain)
    if array.ndim != 2 or array.shape[1] != size or array.dtype.kind not in "iuf":
        raise ArrayError(f"gain must be numbers of shape [B, {size}], got {array.dtype} of {array.shape}", where="gain")
    rows = np.ascontiguousarray(array, np.float64)
    # The least and the largest show whatever is wrong, faster than a search for it: the least of NaN is NaN.
    if not rows.min(initial=0.0) >= 0.0 or rows.max(initial=0.0) == np.inf:
        row, r = divmod(first_unusable(rows.ravel(), 0.0), size)
        raise ArrayError(f"gain is {rows[row, r]}", where=f"gain[{row}, {r}]", fix="pass finite gains >= 0")
    check_totals(rows)
    return rows


def check_totals(rows: np.ndarray) -> None:
    """Raise `ArrayError` unless the gains of each of the ``rows`` [B, R] add up to at most `LARGEST_TOTAL`."""
    with np.errstate(over="ignore"):
        large = np.flatnonzero(~(rows.sum(axis=1, dtype=np.float64) <= LARGEST_TOTAL))
    if large.size:
        what = f"the gains of a row add up to more than {LARGEST_TOTAL:g}, which is too large to compute with"
        raise ArrayError(what, where=f"gain[{large[0]}]", fix="scale the gains")


def row_budgets(budget: Any, size: int, hierarchy: Hierarchy) -> list[float]:
    """One checked budget per row."""
    if np.ndim(budget) == 0:
        return [check_budget(budget, hierarchy)] * size
    budgets = to_numpy(budget)
    if budgets.shape != (size,):
        raise ArrayError(f"{size} rows of gains, but budgets of shape {budgets.shape}", where="budget")
    return [check_budget(limit, hierarchy) for limit in budgets]
