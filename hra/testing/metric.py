"""Is a metric one that bounds hold for?"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from hra.errors import HraError, RepairWarning
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.model.problem import Problem
from hra.testing.instances import CheckFailed, require


def check_metric(metric: ErrorMetric, hierarchy: Hierarchy, contexts: Iterable[Any], *, monotone: bool = True) -> None:
    """Check that a metric gives one usable number per node in every context.

    Values are finite, errors are >= 0, a second look gives the same, the hierarchy and what was returned stay as they
    are, and finer nodes have no more error than what they refine.

    Parameters
    ----------
    contexts : some that the metric will see, the odd ones too.
    monotone : False for metrics whose errors may grow with detail; allocations then repair them, with a warning.

    Raises
    ------
    CheckFailed : something does not hold.

    Examples
    --------
    >>> import hra, hra.testing
    >>> class Depth(hra.ErrorMetric):
    ...     def evaluate(self, hierarchy, context):
    ...         return context * hierarchy.attribute("size")
    >>> tree = hra.Hierarchy.tree([-1, 0, 0], [1, 1, 1], attributes={"size": [4.0, 1.0, 1.0]})
    >>> hra.testing.check_metric(Depth(), tree, [1.0, 2.5])
    """
    name = type(metric).__name__
    require(metric.kind in ("error", "gain"), f"kind is {metric.kind!r}", where=name, fix="'error' or 'gain'")
    require(isinstance(metric.unit, str) and bool(metric.unit), "unit is not text", where=name, fix="name the unit")
    for i, context in enumerate(contexts):
        _check_context(metric, hierarchy, context, f"{name}, context {i}", monotone)


def _check_context(metric: ErrorMetric, hierarchy: Hierarchy, context: Any, where: str, monotone: bool) -> None:
    first = np.array(metric.evaluate(hierarchy, context))
    problem = _problem(metric, hierarchy, context, where, monotone)
    again = np.array(metric.evaluate(hierarchy, context))
    fix = "keep no state between calls, and change no array that was returned"
    require(np.array_equal(first, again), "a second look gives other values", where=where, fix=fix)
    try:
        _ = problem.peak  # what thresholds read
    except HraError as error:
        raise CheckFailed(f"peak: {error.what}", where=f"{where}: {error.where}", fix=error.fix) from error


def _problem(metric: ErrorMetric, hierarchy: Hierarchy, context: Any, where: str, monotone: bool) -> Problem:
    try:
        with warnings.catch_warnings():
            if monotone:
                warnings.simplefilter("error", RepairWarning)
            problem = Problem.of(hierarchy, metric, context, np.inf)
        problem.check()
    except RepairWarning as warning:
        fix = "cap the error of finer nodes, or pass monotone=False if that is meant"
        raise CheckFailed(str(warning), where=where, fix=fix) from warning
    except HraError as error:
        raise CheckFailed(error.what, where=f"{where}: {error.where}", fix=error.fix) from error
    return problem
