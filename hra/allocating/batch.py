"""Many contexts over one hierarchy in one call: [B, R] gains in, [B, R] refinements out, on the CPU or a CUDA device.

Milliseconds for 64 rows of 5461 refinements with heavy-tailed gains, a tenth of the cost as budget, one CPU core:

| `Exact()` | `Hull()`, numba | `Hull()`, warp | `Hull()`, reference |
| --- | --- | --- | --- |
| 16 | 24 | 80 | 490 |

So on the host ``traversal=hra.Exact()`` is the first choice: it also proves what it finds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from hra.allocating.allocation import Allocation
from hra.allocating.exact_batch import check_totals, exact_solutions
from hra.errors import ArrayError, BackendUnavailable, HierarchyError
from hra.kernels.arrays import adopt, give_back, on_host, require_host
from hra.kernels.cut import ForestCut, LevelForest, all_valid, check_gain, price_search
from hra.model.arrays import to_numpy
from hra.model.budget import check_budget
from hra.model.hierarchy import Hierarchy
from hra.model.precise import precise_total
from hra.model.problem import Problem
from hra.model.solution import Solution
from hra.model.units import rescale
from hra.solvers.fill import complete
from hra.traversals.base import Traversal
from hra.traversals.exact import Exact
from hra.traversals.hull import Hull

BACKENDS = ("auto", "reference", "numba", "warp")


@dataclass(frozen=True, eq=False)
class BatchAllocation:
    """One allocation per row; the arrays are of the same kind and on the same device as the gains.

    Attributes
    ----------
    selected : bool [B, R], refinements that are taken.
    cost : float64 [B], the base included, at most the budget.
    gain : float64 [B].
    upper_bound : float64 [B], what no choice within the budget can exceed, in exact arithmetic; on a CUDA device
        R 2**-49 of the sum of all gains larger than it need be.
    price : float64 [B], gain per cost unit at the margin; NaN where the traversal has none.
    """

    selected: Any
    cost: Any
    gain: Any
    upper_bound: Any
    price: Any


def allocate_batch(
    hierarchy: Hierarchy, gain: Any, budget: Any, *, traversal: Traversal | None = None, backend: str = "auto"
) -> BatchAllocation:
    """The answer of a traversal to every row within its budget, without building a problem and an allocation for each.

    On a CUDA device the answer is the hull point, not filled up: there only how many rows still search, and whether the
    gains are valid, comes back to the host. The forest is sent to the device once and kept for the next calls.

    Parameters
    ----------
    hierarchy : a forest for "reference" and "warp" and on a CUDA device, else any.
    gain : [B, R] float32 or float64, finite and >= 0, such as `Hierarchy.gains` gives; NumPy, torch, Warp or any array
        with DLPack, on the host or on a CUDA device.
    budget : one number, or [B], in the hierarchy's cost unit; read on the host.
    traversal : `Hull` by default; `Exact` goes through all rows in one compiled pass. "reference" and "warp" serve
        `Hull` alone.
    backend : "numba" solves row by row; "reference" and "warp" search the price by level sweeps, all rows at once;
        "auto" is numba on the host and warp on a CUDA device.

    Raises
    ------
    HierarchyError : "reference" and "warp" need a forest with costs that are whole numbers >= 0.
    ArrayError : gains of another shape or dtype, negative, not finite, or (on the host) too large to add up; budgets
        of another shape.
    InvalidBudget, BudgetTooSmall : see `check_budget`.
    BackendUnavailable : the backend is unknown, cannot read the device, or it does not serve the traversal.

    Examples
    --------
    >>> import hra, numpy as np
    >>> pixels = hra.Hierarchy.flat([1.0, 1.0, 1.0])
    >>> hra.allocate_batch(pixels, np.array([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]]), 2, traversal=hra.Exact()).gain
    array([5., 9.])
    """
    rows = _checked_rows(hierarchy, gain, backend)
    budgets = _budgets(budget, rows.shape[0], hierarchy)
    if backend in ("reference", "warp") or not on_host(rows):
        _require_sweeps(hierarchy, traversal, backend)
    if not on_host(rows):
        cut = price_search(_forest_on(hierarchy, str(rows.device)), rows, _capacity(hierarchy, budgets), "warp")
        return BatchAllocation(*(give_back(array, gain) for array in _arrays(cut)))
    problems = [_problem(hierarchy, row, limit) for row, limit in zip(rows, budgets, strict=True)]
    if backend in ("auto", "numba"):
        solutions = _row_by_row(traversal or Hull(), hierarchy, rows, budgets, problems)
    else:
        cut = price_search(_forest(hierarchy), rows, _capacity(hierarchy, budgets), backend)
        solutions = [_fill(problem, cut, i) for i, problem in enumerate(problems)]
    return BatchAllocation(*(give_back(array, gain) for array in _stack(problems, solutions, rows.shape)))


def _row_by_row(
    traversal: Traversal, hierarchy: Hierarchy, rows: np.ndarray, budgets: list[float], problems: list[Problem]
) -> list[Solution]:
    if isinstance(traversal, Exact) and not traversal.spend_all:
        return exact_solutions(hierarchy, rows, np.array(budgets), max_states=traversal.max_states)
    return [traversal.solve(problem) for problem in problems]


def _fill(problem: Problem, cut: ForestCut, row: int) -> Solution:
    selected = complete(problem, cut.selected[row], problem.ratio, spend_all=False)
    return Solution(selected, float(cut.price[row]))


def _stack(problems: list[Problem], solutions: list[Solution], shape: tuple[int, int]) -> tuple[np.ndarray, ...]:
    selected, numbers = np.zeros(shape, np.bool_), np.zeros((4, shape[0]))
    for i, (problem, solution) in enumerate(zip(problems, solutions, strict=True)):
        selected[i], hierarchy = solution.selected, problem.hierarchy
        gained = precise_total(problem.gain, solution.selected)
        bound = Allocation(problem, replace(solution, selected=solution.selected.copy()), 0.0).upper_bound
        price = np.nan if solution.price is None else rescale(solution.price, hierarchy.units.size, Fraction(1))
        numbers[:, i] = hierarchy.cost_of(solution.selected), gained[0], bound, price
    return selected, *numbers


def _arrays(cut: ForestCut) -> tuple[Any, ...]:
    return cut.selected, cut.cost, cut.gain, cut.bound, cut.price


def _problem(hierarchy: Hierarchy, row: np.ndarray, budget: float) -> Problem:
    """One row alone; errors do not matter, so full detail leaves none."""
    gain = np.ascontiguousarray(row, np.float64)
    return Problem(hierarchy, gain, 0.0, budget, "gain", True, lambda: gain)


def _forest(hierarchy: Hierarchy) -> LevelForest:
    levels = tuple(hierarchy.level_offsets.tolist())
    return LevelForest(levels, hierarchy.parent, hierarchy.first_child, hierarchy.unit_cost, hierarchy.base_cost)


@lru_cache(maxsize=4)
def _forest_on(hierarchy: Hierarchy, device: str) -> LevelForest:
    return _forest(hierarchy).to(device)


def _capacity(hierarchy: Hierarchy, budgets: list[float]) -> np.ndarray:
    return np.array([hierarchy.capacity(limit) for limit in budgets], np.float64)


def _checked_rows(hierarchy: Hierarchy, gain: Any, backend: str) -> Any:
    if backend not in BACKENDS:
        fix = f"one of {', '.join(BACKENDS)}"
        raise BackendUnavailable(f"the backend {backend!r} is unknown", where="argument backend", fix=fix)
    rows = adopt(gain, "gain")
    check_gain(rows, len(hierarchy))
    if backend in ("reference", "numba"):
        require_host(rows, backend)
    if not all_valid(rows):
        fix = "pass finite gains >= 0"
        raise ArrayError("a gain is negative, infinite or not a number", where=_first_invalid(rows), fix=fix)
    if on_host(rows):
        check_totals(rows)
    return rows


def _require_sweeps(hierarchy: Hierarchy, traversal: Traversal | None, backend: str) -> None:
    if hierarchy.parent is None:
        what = "level sweeps need a forest, and this hierarchy is a DAG: some refinements have several predecessors"
        raise HierarchyError(what, where="allocate_batch", fix="use a tree, or backend='numba'")
    if hierarchy.shrinks or hierarchy.units.size != 1 or not hierarchy.units.exact:
        what = f"the backend {backend!r} needs costs that are whole numbers >= 0"
        raise HierarchyError(what, where="allocate_batch", fix="give costs in a smaller unit, or backend='numba'")
    if traversal is not None and not isinstance(traversal, Hull):
        what = f"level sweeps find hull points, but {type(traversal).__name__} chooses otherwise"
        raise BackendUnavailable(what, where="argument backend", fix="use Hull, or gains on the host")


def _first_invalid(rows: Any) -> str:
    """Where the first bad gain is; on a CUDA device only that there is one."""
    if not on_host(rows):
        return "argument gain"
    row, r = np.argwhere(~(np.isfinite(rows) & (rows >= 0)))[0]
    return f"gain[{row}, {r}]"


def _budgets(budget: Any, size: int, hierarchy: Hierarchy) -> list[float]:
    """One checked budget per row."""
    if np.ndim(budget) == 0:
        return [check_budget(budget, hierarchy)] * size
    budgets = to_numpy(budget)
    if budgets.shape != (size,):
        raise ArrayError(f"{size} rows of gains, but budgets of shape {budgets.shape}", where="budget")
    return [check_budget(limit, hierarchy) for limit in budgets]
