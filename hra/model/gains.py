"""From node errors to the gain of every refinement, with non-monotone errors repaired."""

from __future__ import annotations

import math

import numpy as np

from hra.compiling import njit
from hra.errors import MetricError, warn
from hra.model.hierarchy import Hierarchy
from hra.model.precise import precise_total


@njit(cache=True)
def _swap_gains(added_at, added, removed_at, removed, error, gain):
    """Error removed less error added per refinement; fine nodes that add up to more than the coarse are scaled down.

    Where nothing is removed, taking the refinement removes the errors of the nodes that it adds.
    """
    repaired = 0
    # Coarse before fine: what a refinement removes was added, and scaled, by one before it.
    for r in range(gain.size):
        fine = 0.0
        for k in range(added_at[r], added_at[r + 1]):
            fine += error[added[k]]
        if removed_at[r] == removed_at[r + 1]:
            gain[r] = fine
            continue
        coarse = 0.0
        for k in range(removed_at[r], removed_at[r + 1]):
            coarse += error[removed[k]]
        if fine > coarse:
            # Rounding of equal sums is not a repair worth a warning.
            repaired += fine > coarse * (1 + 1e-6)
            for k in range(added_at[r], added_at[r + 1]):
                error[added[k]] *= coarse / fine
            fine = coarse
        gain[r] = coarse - fine
    return repaired


@njit(cache=True)
def step_gains(added_at, added, parent, inherited_sum, error, inherited, gain):
    """Inherited error less own error of the node that each refinement adds, from coarse to fine.

    What children inherit is scaled down where it adds up to more than their parent's error; what they keep is capped.
    """
    repaired = 0
    # Coarse before fine: an error has been capped before children are measured by it.
    for r in range(gain.size):
        for k in range(added_at[r], added_at[r + 1]):
            v = added[k]
            p = parent[v]
            before = inherited[v]
            # Sums that differ by rounding only are left as they are.
            if inherited_sum[p] > error[p] * (1 + 1e-12):
                repaired += inherited_sum[p] > error[p] * (1 + 1e-6)
                before *= error[p] / inherited_sum[p]
            if error[v] > before:
                repaired += error[v] > before * (1 + 1e-6)
                error[v] = before
            gain[r] += before - error[v]
    return repaired


@njit(cache=True)
def _over_children(parent, added_by, value, children=None):
    """Sum of ``value`` [N] over the children of each node [N]; counts them into ``children`` int32 [N]."""
    sums = np.zeros(value.size)
    for v in range(value.size):
        if added_by[v] >= 0:
            sums[parent[v]] += value[v]
            if children is not None:
                children[parent[v]] += 1
    return sums


@njit(cache=True)
def _even_gains(added_at, added, parent, children, child_error, error, gain):
    """Each split's gain in equal shares, after scaling its children down to at most their parent's error."""
    repaired = 0
    for r in range(gain.size):
        for k in range(added_at[r], added_at[r + 1]):
            v = added[k]
            p = parent[v]
            if child_error[p] > error[p]:
                repaired += child_error[p] > error[p] * (1 + 1e-6)
                error[v] *= error[p] / child_error[p]
            else:
                gain[r] += (error[p] - child_error[p]) / children[p]
    return repaired


def gains_from_errors(
    hierarchy: Hierarchy, error: np.ndarray, inherited: np.ndarray | None
) -> tuple[np.ndarray, float]:
    """Gain of every refinement [R] and the error that remains at full detail, float64.

    Parameters
    ----------
    error : float64 [N], >= 0, error of a node's region while the node represents it.
    inherited : float64 [N] or None, error of that region while the node's parent represents it; only used where nodes
        are added one at a time.

    Raises
    ------
    MetricError : errors that are to be scaled down add up to more than any float.

    Warns
    -----
    RepairWarning : a finer level had more error than the coarser one; it was scaled down to it.
    """
    given, error, added = error, error.copy(), hierarchy.added_nodes
    gain = np.zeros(hierarchy.level_offsets[-1])
    if hierarchy.node_parent is not None and not hierarchy.replaces:
        base = error[hierarchy.added_by < 0]
        repaired = _steps(added, hierarchy.added_by, hierarchy.node_parent, error, inherited, gain)
        _check_repaired(repaired, given, inherited)
        return gain, _left(base, gain)
    base = None if hierarchy.replaces else error[_counted_at_first(hierarchy)]
    _check_repaired(_swap_gains(*added, *hierarchy.removed_nodes, error, gain), given)
    # Where all that is refined is replaced, what remains are the errors of what is never replaced: no difference.
    return gain, float(error[hierarchy.unreplaced].sum()) if base is None else _left(base, gain)


def _check_repaired(repaired: int, *errors: np.ndarray | None) -> None:
    """Warn of repairs, and refuse those that a sum which overflows has scaled down to nothing."""
    with np.errstate(over="ignore"):
        if repaired and not all(np.isfinite(one.sum()) for one in errors if one is not None):
            what = "finer nodes have more error than the coarser ones, and too much of it to add up"
            raise MetricError(what, where="error", fix="scale the metric: all errors together to at most 1e+307")
    warn_of_repairs(repaired)


def _left(base: np.ndarray, gain: np.ndarray) -> float:
    """What all gains [R] leave of the errors of the base."""
    before, removed = (precise_total(values, np.ones(values.size, np.bool_)) for values in (base, gain))
    return max(math.fsum((before[0], before[1], -removed[0], -removed[1])), 0.0)


def _counted_at_first(hierarchy: Hierarchy) -> np.ndarray:
    """Nodes whose error is there before any refinement [N]: the base, and what is added without replacing anything."""
    removes = np.bincount(hierarchy.removed_by[hierarchy.removed_by >= 0], minlength=len(hierarchy)) > 0
    return ~np.r_[removes, False][hierarchy.added_by]


def _steps(
    added: tuple[np.ndarray, np.ndarray],
    added_by: np.ndarray,
    parent: np.ndarray,
    error: np.ndarray,
    inherited: np.ndarray | None,
    gain: np.ndarray,
) -> int:
    """Fill ``gain`` where nodes are added one at a time and ``parent`` [N] stays for the rest; return the repairs."""
    if inherited is not None:
        total_of_children = _over_children(parent, added_by, inherited)
        return step_gains(*added, parent, total_of_children, error, inherited, gain)
    children = np.zeros(error.size, np.int32)
    child_error = _over_children(parent, added_by, error, children)
    return _even_gains(*added, parent, children, child_error, error, gain)


def gains_from_values(hierarchy: Hierarchy, value: np.ndarray) -> np.ndarray:
    """Gain of every refinement [R] from the gain of adding each node [N]."""
    added = hierarchy.added_by >= 0
    return np.bincount(hierarchy.added_by[added], value[added], len(hierarchy)).astype(np.float64)


def peak_errors(hierarchy: Hierarchy, peak: np.ndarray, inherited: np.ndarray | None) -> np.ndarray:
    """Error [R] that remains while a refinement is not taken, made monotone from fine to coarse.

    Parameters
    ----------
    peak : float64 [N], largest error of a node's region while the node represents it.
    inherited : float64 [N] or None, the same while the node's parent represents it; by default the parent's peak.
    """
    if hierarchy.replaces:
        return _largest(hierarchy, hierarchy.removed_by, peak)
    if inherited is None and hierarchy.node_parent is not None:
        inherited = peak[hierarchy.node_parent]
    return _largest(hierarchy, hierarchy.added_by, peak if inherited is None else inherited)


def peak_values(hierarchy: Hierarchy, value: np.ndarray) -> np.ndarray:
    """Largest gain [R] of the nodes that a refinement adds, made monotone from fine to coarse."""
    return _largest(hierarchy, hierarchy.added_by, value)


def _largest(hierarchy: Hierarchy, refinement: np.ndarray, value: np.ndarray) -> np.ndarray:
    """The largest ``value`` [N] of the nodes of each ``refinement`` [N], raised to that of its successors."""
    error, known = np.zeros(len(hierarchy)), refinement >= 0
    np.maximum.at(error, refinement[known], value[known])
    return monotone(hierarchy, error)


def monotone(hierarchy: Hierarchy, error: np.ndarray) -> np.ndarray:
    """``error`` [R], raised in place to the largest of what each refinement opens up."""
    _raise_predecessors(*hierarchy.predecessors, error)
    return error


@njit(cache=True)
def _raise_predecessors(offsets, predecessors, error):
    # Successors have larger numbers: backwards, an error is final before it is passed on.
    for r in range(error.size - 1, -1, -1):
        for k in range(offsets[r], offsets[r + 1]):
            error[predecessors[k]] = max(error[predecessors[k]], error[r])


def warn_of_repairs(repaired: int) -> None:
    """Warn if errors had to be capped."""
    if repaired:
        warn(
            f"the metric is not monotone: {repaired} refinements had finer nodes with more error than the coarser "
            "ones; the finer error was capped",
        )
