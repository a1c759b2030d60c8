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
            _check(metric, error)
            least_error[begin:end] = _left(hierarchy.removed_by, error)
            warn_of_repairs(_swap_gains(*hierarchy.added_nodes, *hierarchy.removed_nodes, error, gain, begin))
        else:
            for i in range(begin, end):
                problem = Problem.of(hierarchy, metric, contexts[i], np.inf)
                gain[:, i], least_error[i] = problem.gain, problem.least_error
    if gain.sum() > LARGEST_TOTAL:
        fix = f"scale the metric: all gains to at most {LARGEST_TOTAL:g}"
        raise MetricError("the gains are too large to compute with", where=type(metric).__name__, fix=fix)


def _check(metric: ErrorMetric, error: np.ndarray) -> None:
    if not _is_usable(error):
        node, lane = np.argwhere(~(np.isfinite(error) & (error >= 0)))[0]
        what = f"{type(metric).__name__} returned {error[node, lane]}"
        raise MetricError(what, where=f"node {node}, context {lane}", fix="errors are finite and >= 0")


@njit(cache=True, error_model="numpy")
def _is_usable(error):
    usable = True
    for v in range(error.shape[0]):
        row = error[v]
        for i in range(row.size):
            usable &= row[i] >= 0.0
            usable &= row[i] < np.inf
    return usable


@njit(cache=True, error_model="numpy")
def _left(removed_by, error):
    """What remains at full detail in each lane."""
    total = np.zeros(error.shape[1])
    for v in range(removed_by.size):
        if removed_by[v] < 0:
            _add(error[v], total)
    return total


@njit(cache=True, error_model="numpy")
def _swap_gains(added_at, added, removed_at, removed, error, gain, begin):
    """Fill lanes of ``gain`` from ``begin`` on as `hra.model.gains` does from ``error`` [N, B]; returns the repairs."""
    repaired = 0
    fine, coarse = np.empty(error.shape[1]), np.empty(error.shape[1])
    for r in range(gain.shape[0]):
        fine[:], coarse[:] = 0.0, 0.0
        for k in range(added_at[r], added_at[r + 1]):
            _add(error[added[k]], fine)
        for k in range(removed_at[r], removed_at[r + 1]):
            _add(error[removed[k]], coarse)
        if _swap(coarse, fine, gain[r, begin : begin + fine.size]):
            # Finer nodes have more error than the coarser ones, as rounding alone may have it: they are scaled down.
            for i in range(fine.size):
                if fine[i] > coarse[i]:
                    repaired += fine[i] > coarse[i] * (1 + 1e-6)
                    for k in range(added_at[r], added_at[r + 1]):
                        error[added[k], i] *= coarse[i] / fine[i]
    return repaired


@njit(cache=True, error_model="numpy")
def _add(values, total):
    for i in range(total.size):
        total[i] += values[i]


@njit(cache=True, error_model="numpy")
def _swap(coarse, fine, gain):
    worse = False
    for i in range(fine.size):
        worse |= fine[i] > coarse[i]
        gain[i] = coarse[i] - fine[i] if fine[i] < coarse[i] else 0.0
    return worse
