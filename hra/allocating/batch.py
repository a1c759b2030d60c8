"""Many contexts over one hierarchy in one call: [B, R] gains in, [B, R] refinements out, on the CPU or a CUDA device.

Milliseconds for 64 rows of 5461 refinements with heavy-tailed gains, a tenth of the cost as budget, one CPU core:

| `Exact()` | `Hull()`, numba | `Hull()`, warp | `Hull()`, reference |
| --- | --- | --- | --- |
| 15 | 19 | 36 | 3000 |

So on the host ``traversal=hra.Exact()`` is the first choice: it also proves what it finds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from hra.allocating.allocation import Allocation
from hra.allocating.exact_batch import check_totals, exact_solutions, row_budgets
from hra.errors import ArrayError, BackendUnavailable, HierarchyError, check_choice, check_kind
from hra.kernels.backends import adopt, give_back_all, on_host, require_host
from hra.kernels.cut import ForestCut, LevelForest, all_valid, check_gain, hull_points, price_search
from hra.model.gains import monotone
from hra.model.hierarchy import Hierarchy
from hra.model.precise import precise_total
from hra.model.problem import Problem
from hra.model.solution import Solution
from hra.model.units import rescale
from hra.solvers.relaxation import LARGE
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

    Every backend takes the same refinements, ties included. On a CUDA device only how many rows still search, and
    whether the gains are valid, comes back to the host; the forest is sent there once and kept for the next calls.

    Parameters
    ----------
    hierarchy : a forest for "reference" and "warp" and on a CUDA device, else any.
    gain : [B, R] float32 or float64, finite and >= 0, such as `Hierarchy.gains` gives; NumPy, torch, Warp or any array
        with DLPack, on the host or on a CUDA device.
    budget : one number, or [B], in the hierarchy's cost unit; read on the host.
    traversal : `Hull` by default; `Exact` goes through all rows in one compiled pass. "reference" and "warp" serve
        `Hull` alone. From 20,000 refinements on, they serve only `Hull(finish="none")`: all rows at once by level
        sweeps, which find the same sets but where slopes that tie are rounded differently.
    backend : "numba" solves row by row; "auto" is numba on the host and warp on a CUDA device.

    Raises
    ------
    HraError : something else in the place of the hierarchy or the traversal.
    HierarchyError : "reference" and "warp" need a forest with costs that are whole numbers >= 0.
    ArrayError : gains of another shape or dtype, negative, not finite, or (on the host) too large to add up; budgets
        of another shape.
    InvalidBudget, BudgetTooSmall : see `check_budget`.
    BackendUnavailable : the backend is unknown, cannot read the device, or does not serve the traversal or the size.

    Examples
    --------
    >>> import hra, numpy as np
    >>> pixels = hra.Hierarchy.flat([1.0, 1.0, 1.0])
    >>> hra.allocate_batch(pixels, np.array([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]]), 2, traversal=hra.Exact()).gain
    array([5., 9.])
    """
    chosen, fix = Hull() if traversal is None else traversal, "call allocate_batch(hierarchy, gain, budget)"
    for name, given, kind in (("hierarchy", hierarchy, Hierarchy), ("traversal", chosen, Traversal)):
        check_kind(name, given, kind, fix)
    rows = _checked_rows(hierarchy, gain, backend)
    budgets = row_budgets(budget, rows.shape[0], hierarchy)
    if not on_host(rows):
        hull, forest = _require_hull(hierarchy, chosen, backend), _forest_on(hierarchy, str(rows.device))
        cut = _hull_points(hull, hierarchy, forest, rows, budgets, "warp")
        return BatchAllocation(*give_back_all(_arrays(cut), gain))
    problems = [_problem(hierarchy, row, limit) for row, limit in zip(rows, budgets, strict=True)]
    if backend in ("auto", "numba"):
        solutions = _row_by_row(chosen, hierarchy, rows, budgets, problems)
    else:
        hull = _require_hull(hierarchy, chosen, backend)
        cut = _hull_points(hull, hierarchy, _forest(hierarchy), rows, budgets, backend)
        solutions = [Solution(*row) for row in zip(cut.selected, cut.price.tolist(), strict=True)]
    return BatchAllocation(*give_back_all(_stack(problems, solutions, rows.shape), gain))


def _row_by_row(
    traversal: Traversal, hierarchy: Hierarchy, rows: np.ndarray, budgets: list[float], problems: list[Problem]
) -> list[Solution]:
    if isinstance(traversal, Exact) and not traversal.spend_all:
        return exact_solutions(hierarchy, rows, np.array(budgets), max_states=traversal.max_states)
    return [traversal.solve(problem) for problem in problems]


def _hull_points(
    traversal: Hull, hierarchy: Hierarchy, forest: LevelForest, rows: Any, budgets: list[float], backend: str
) -> ForestCut:
    """Hull points where the gains are; on a device with a bound, which is searched by level sweeps."""
    capacity = np.array([hierarchy.capacity(limit) for limit in budgets], np.float64)
    if len(hierarchy) >= LARGE:
        return price_search(forest, rows, capacity, backend)
    given, fill = (forest, rows, capacity, hierarchy.slope_cost), traversal.finish == "fill"
    found = hull_points(*given, fill=fill, spend_all=traversal.spend_all, backend=backend)
    return found if on_host(rows) else replace(found, bound=price_search(forest, rows, capacity, backend).bound)


def _stack(problems: list[Problem], solutions: list[Solution], shape: tuple[int, int]) -> tuple[np.ndarray, ...]:
    selected, numbers = np.zeros(shape, np.bool_), np.zeros((4, shape[0]))
    for i, (problem, solution) in enumerate(zip(problems, solutions, strict=True)):
        selected[i], hierarchy = solution.selected, problem.hierarchy
        gained = precise_total(problem.gain, solution.selected)
        bound = Allocation(problem, solution, 0.0).upper_bound
        price = np.nan if solution.price is None else rescale(solution.price, hierarchy.units.size, Fraction(1))
        numbers[:, i] = hierarchy.cost_of(solution.selected), gained[0], bound, price
    return selected, *numbers


def _arrays(cut: ForestCut) -> tuple[Any, ...]:
    return cut.selected, cut.cost, cut.gain, cut.bound, cut.price


def _problem(hierarchy: Hierarchy, row: np.ndarray, budget: float) -> Problem:
    """One row alone; errors do not matter, so full detail leaves none."""
    gain = np.ascontiguousarray(row, np.float64)
    return Problem(hierarchy, gain, 0.0, budget, "gain", True, lambda: monotone(hierarchy, gain.copy()))


def _forest(hierarchy: Hierarchy) -> LevelForest:
    levels = tuple(hierarchy.level_offsets.tolist())
    return LevelForest(levels, hierarchy.parent, hierarchy.first_child, hierarchy.unit_cost, hierarchy.base_cost)


@lru_cache(maxsize=4)
def _forest_on(hierarchy: Hierarchy, device: str) -> LevelForest:
    return _forest(hierarchy).to(device)


def _checked_rows(hierarchy: Hierarchy, gain: Any, backend: str) -> Any:
    check_choice("backend", backend, BACKENDS, BackendUnavailable)
    rows = adopt(gain, "gain")
    check_gain(rows, len(hierarchy))
    if backend in ("reference", "numba"):
        require_host(rows, backend)
    if on_host(rows):  # on a device, kernels tell
        if not all_valid(rows):
            row, r = np.argwhere(~(np.isfinite(rows) & (rows >= 0)))[0]
            what, fix = "a gain is negative, infinite or not a number", "pass finite gains >= 0"
            raise ArrayError(what, where=f"gain[{row}, {r}]", fix=fix)
        check_totals(rows)
    return rows


def _require_hull(hierarchy: Hierarchy, traversal: Traversal, backend: str) -> Hull:
    if hierarchy.parent is None:
        what = "these backends need a forest, and this hierarchy is a DAG: some refinements have several predecessors"
        raise HierarchyError(what, where="allocate_batch", fix="use a tree, or backend='numba'")
    if hierarchy.shrinks or hierarchy.units.size != 1 or not hierarchy.units.exact:
        what = f"the backend {backend!r} needs costs that are whole numbers >= 0"
        raise HierarchyError(what, where="allocate_batch", fix="give costs in a smaller unit, or backend='numba'")
    if not isinstance(traversal, Hull):
        what = f"the backend finds hull points, but {type(traversal).__name__} chooses otherwise"
        raise BackendUnavailable(what, where="argument backend", fix="use Hull, or gains on the host")
    if len(hierarchy) >= LARGE and traversal.finish == "fill":
        what = f"rows of {LARGE:,} refinements or more are filled by Numba alone, and these have {len(hierarchy):,}"
        fix = "use traversal=hra.Hull(finish='none'), or gains on the host with backend='numba'"
        raise BackendUnavailable(what, where="argument backend", fix=fix)
    return traversal
