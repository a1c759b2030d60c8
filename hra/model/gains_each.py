"""Gains of one hierarchy in many contexts at once: one topology, a lane for each context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hra.compiling import njit
from hra.errors import MetricError
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.model.problem import LARGEST_TOTAL, Problem


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
