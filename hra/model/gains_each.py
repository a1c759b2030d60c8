"""Gains of one hierarchy in many contexts at once: one topology, a lane for each context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hra.compiling import njit
from hra.errors import MetricError
from hra.model.gains import warn_of_repairs
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.model.problem import LARGEST_TOTAL, Problem

# Contexts at a time: the errors of their nodes stay in the cache.
_LANES = 64


def gains_each(
    hierarchy: Hierarchy, metric: ErrorMetric, contexts: Sequence[Any], gain: np.ndarray, least_error: np.ndarray
) -> None:
    """Fill ``gain`` [R, B] and ``least_error`` [B] with those of `Problem.of` in each of B contexts.

    Raises
    ------
    MetricError : the metric returns another shape, values that are not finite, negative errors, or gains that add up
        to more than bounds hold for.
    """
    swaps = metric.kind == "error" and hierarchy.replaces
    nodes, scratch = hierarchy.node_cost.size, np.empty(hierarchy.node_cost.size * _LANES)
    for begin in range(0, len(contexts), _LANES):
        end = min(begin + _LANES, len(contexts))
        error = scratch[: nodes * (end - begin)].reshape(nodes, end - begin)
        if swaps and metric.evaluate_each(hierarchy, contexts[begin:end], error):
            order, lowest = (*hierarchy.added_nodes, *hierarchy.removed_nodes), np.zeros(end - begin)
            repaired = _swap_gains(*order, error, gain, begin, lowest)
            least_error[begin:end] = _left(hierarchy.removed_by, error, lowest)  # of what is left after repairs
            if not (lowest.min() >= 0.0 and np.isfinite(least_error[begin:end]).all()):
                raise _unusable(metric, "negative or not finite", begin)
            warn_of_repairs(repaired)
        else:
            for i in range(begin, end):
                problem = Problem.of(hierarchy, metric, contexts[i], np.inf)
                gain[:, i], least_error[i] = problem.gain, problem.least_error
    everything = gain.sum()
    if not np.isfinite(gain.max(initial=0.0)):
        raise _unusable(metric, "not finite", 0)
    if not everything <= LARGEST_TOTAL:
        fix = f"scale the metric: all gains to at most {LARGEST_TOTAL:g}"
        raise MetricError("the gains are too large to compute with", where=type(metric).__name__, fix=fix)


def _unusable(metric: ErrorMetric, what: str, begin: int) -> MetricError:
    where = f"contexts from {begin} on"
    return MetricError(f"{type(metric).__name__} returned errors that are {what}", where=where, fix="errors are >= 0")


@njit(cache=True, error_model="numpy")
def _left(removed_by, error, lowest):
    """What remains at full detail in each lane; lowers ``lowest`` to negative errors, as `_swap_gains` does."""
    total = np.zeros(error.shape[1])
    for v in range(removed_by.size):
        if removed_by[v] < 0:
            _add(error[v], total, lowest)
    return total


@njit(cache=True, error_model="numpy")
def _swap_gains(added_at, added, removed_at, removed, error, gain, begin, lowest):
    """Fill lanes of ``gain`` from ``begin`` on as `hra.model.gains` does from ``error`` [N, B]; returns the repairs."""
    repaired = 0
    fine, coarse = np.empty(error.shape[1]), np.empty(error.shape[1])
    for r in range(gain.shape[0]):
        fine[:], coarse[:] = 0.0, 0.0
        for k in range(added_at[r], added_at[r + 1]):
            _add(error[added[k]], fine, lowest)
        for k in range(removed_at[r], removed_at[r + 1]):
            _add(error[removed[k]], coarse, lowest)
        if _swap(coarse, fine, gain[r, begin : begin + fine.size]):
            # Finer nodes have more error than the coarser ones, as rounding alone may have it: they are scaled down.
            for i in range(fine.size):
                if np.isnan(fine[i]) or np.isnan(coarse[i]):
                    lowest[i] = -np.inf  # what is no number must not pass for a gain of nothing
                elif fine[i] > coarse[i]:
                    repaired += fine[i] > coarse[i] * (1 + 1e-6)
                    for k in range(added_at[r], added_at[r + 1]):
                        error[added[k], i] *= coarse[i] / fine[i]
    return repaired


@njit(cache=True, error_model="numpy")
def _add(values, total, lowest):
    for i in range(total.size):
        total[i] += values[i]
        lowest[i] = values[i] if values[i] < lowest[i] else lowest[i]


@njit(cache=True, error_model="numpy")
def _swap(coarse, fine, gain):
    worse = False
    for i in range(fine.size):
        worse |= not fine[i] <= coarse[i]
        gain[i] = coarse[i] - fine[i] if fine[i] <= coarse[i] else 0.0
    return worse
