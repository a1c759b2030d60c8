"""Many copies of a few hierarchies under one budget, without the union of them all.

`gains_each` has the gains of one hierarchy in many contexts at once: one topology, a row of lanes per refinement.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from hra.compiling import Stopwatch, njit
from hra.errors import MetricError, UnitMismatch
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.model.problem import LARGEST_TOTAL, Problem, check_covered, check_number
from hra.model.units import rescale
from hra.pooling.copies_allocation import CopiesAllocation, Kind
from hra.solvers.copies.blocks import Shares, shares_after
from hra.solvers.copies.copies import Copies
from hra.solvers.copies.solve import Shared, share_out
from hra.traversals.base import Traversal
from hra.traversals.coherent import Coherent
from hra.traversals.hull import Hull


def gains_each(
    hierarchy: Hierarchy, metric: ErrorMetric, contexts: Sequence[Any], gain: np.ndarray, least_error: np.ndarray
) -> None:
    """Fill ``gain`` [R, B] and ``least_error`` [B] with those of `Problem.of` in each of B contexts.

    Raises
    ------
    MetricError : the metric returns another shape, values that are not finite, negative ones, or gains that add up to
        more than bounds hold for.
    """
    if not metric.gains_each(hierarchy, contexts, gain, least_error):
        for i, context in enumerate(contexts):
            problem = Problem.of(hierarchy, metric, context, np.inf)
            gain[:, i], least_error[i] = problem.gain, problem.least_error
    for what, values in (("gains", gain), ("errors", least_error)):
        everything, negative = _total_and_negative(values.reshape(-1))
        if negative or not np.isfinite(everything):
            where = f"{what} of {len(contexts)} contexts"
            raise MetricError(f"{type(metric).__name__} has values that are negative or not finite", where=where)
        if not everything <= LARGEST_TOTAL:
            fix = f"scale the metric: all {what} to at most {LARGEST_TOTAL:g}"
            raise MetricError(f"the {what} are too large to compute with", where=type(metric).__name__, fix=fix)


# Sums in any order, or they would be taken one after the other.
@njit(cache=True, error_model="numpy", fastmath={"reassoc"})
def _total_and_negative(values):
    """The sum, and how many are below 0, in one pass over the gains of many contexts."""
    total, negative = 0.0, 0
    for i in range(values.size):
        total += values[i]
        negative += values[i] < 0.0
    return total, negative


def allocate_copies(
    kinds: Sequence[Kind],
    order: np.ndarray,
    budget: float,
    traversal: Traversal,
    *,
    price: float | None = None,
    last: CopiesAllocation | None = None,
    came_from: np.ndarray | None = None,
) -> CopiesAllocation:
    """Spend ``budget`` over all copies of all kinds.

    Parameters
    ----------
    order : int [M], which copy each of M members is, counted through all kinds.
    traversal : see `can_share`.
    price : gain per cost unit at which the last step of a sequence ended, or None; a guess that saves time.
    last : the last step: it saves more where it was of the same kinds in the same order, of any copies.
    came_from : int [M], which copy of the last step each copy was, -1 for none of them.

    Raises
    ------
    InvalidBudget, BudgetTooSmall, MetricError, UnitMismatch : see `Pool.allocate`.
    HierarchyError : costs of all copies together are too many units to add up exactly.
    """
    watch = Stopwatch()
    if len(units := sorted({kind.metric.unit for kind in kinds})) != 1:
        fix = "use metrics of one unit, or scale one of them"
        raise UnitMismatch("one pool needs one unit of error", where=", ".join(units), fix=fix)
    copies = Copies(tuple(kind.hierarchy for kind in kinds), tuple(len(kind.contexts) for kind in kinds))
    budget, least = check_number(budget), copies.base_cost
    check_covered(budget, least, copies.hierarchies[0].cost_unit, fits=budget >= least)
    gain, least_error = np.empty(copies.lanes), tuple(np.empty(count) for count in copies.counts)
    for kind, part, left in zip(kinds, copies.parts(gain), least_error, strict=True):
        gains_each(kind.hierarchy, kind.metric, kind.contexts, part, left)
    share = None
    if last is not None and came_from is not None and last.copies.hierarchies == copies.hierarchies:
        share = shares_after(copies, last.copies, last.shared.share, came_from)
    shared = _share_out(copies, gain, kinds, copies.capacity(budget), traversal, (price, share))
    return CopiesAllocation(tuple(kinds), order, copies, gain, least_error, shared, budget, watch.wall)


def can_share(traversal: Traversal, hierarchies: Sequence[Hierarchy], counts: Sequence[int]) -> bool:
    """Whether `allocate_copies` does what ``traversal`` does: `Hull`, and `Coherent` of it without ``max_churn``.

    Parameters
    ----------
    counts : copies of each hierarchy.
    """
    if isinstance(traversal, Coherent):
        return traversal.max_churn is None and can_share(traversal.traversal, hierarchies, counts)
    return isinstance(traversal, Hull) and Copies.suits(hierarchies, counts)


def _share_out(
    copies: Copies,
    gain: np.ndarray,
    kinds: Sequence[Kind],
    capacity: float,
    traversal: Traversal,
    near: tuple[float | None, Shares | None],
) -> Shared:
    """What the traversal chooses; a `Coherent` one sees gains in favour of what is there."""
    price, share = near
    guess = None if price is None else rescale(price, Fraction(1), copies.hierarchies[0].units.size)
    while isinstance(traversal, Coherent):
        gain = gain.copy()
        for kind, part in zip(kinds, copies.parts(gain), strict=True):
            if kind.previous is not None:
                np.multiply(part, 1 + traversal.hysteresis, out=part, where=kind.previous)
        traversal = traversal.traversal
    hull = traversal if isinstance(traversal, Hull) else Hull()
    options = {"fill": hull.finish == "fill", "spend_all": hull.spend_all}
    return share_out(copies, gain, capacity, guess=guess, share=share, **options)
